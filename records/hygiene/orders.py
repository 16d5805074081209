"""Text that gives orders to whoever reads it next: orders in a dozen languages, a chat's own markers, tool calls.

What a decision record, a manual or a post-mortem says to people is none of these. A pattern is tried only around words
that few texts have, and looks a bounded way ahead: no text is slow to look through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ORDERS, ROLE_MARKER, TOOL_CALL, EXFILTRATION = "orders", "role_marker", "tool_call", "exfiltration"


BEFORE, AFTER = 80, 320  # how far from one of its words a sign may reach, in characters


@dataclass(frozen=True)
class _Sign:
    """`words`: one of these (in lower case) stands in every match, and is looked for first."""

    code: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


# Between two words: white space, the marks with which Markdown stresses or quotes, a tag of HTML on either side.
_S = r"(?:</?[a-z]{1,10}>)?[\s*_\"'`>#~(),:;.-]{1,8}(?:</?[a-z]{1,10}>)?"


def _words(text: str) -> str:
    """A pattern in which a blank is what may stand between words."""
    return text.replace(" ", _S)


def _sign(code: str, words: str, pattern: str) -> _Sign:
    return _Sign(code, tuple(words.split("|")), re.compile(rf"(?i:{_words(pattern)})"))


# --- English ---------------------------------------------------------------------------------------------------
_EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|former|past|existing|original|initial|older)(?:ly)?"
)
_TOLD = r"(?:given|received|provided|stated|mentioned|loaded)"
_RULES = r"(?:instructions?|prompts?|directives?|directions|orders|commands|rules|guidelines|guardrails|polic(?:y|ies)|constraints|restrictions|safeguards|programming|training|context|messages|conversation|system prompt)"
_FORGET = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?|discard|set aside|stop (?:following|obeying)"
    r"|(?:do not|don't|never|no longer) (?:follow|obey|heed|comply with|adhere to)|pay no attention to|abandon)"
)
_FORGET_WORDS = "ignor|disregard|forget|overrid|bypass|discard|set aside|stop following|stop obeying|not follow|not obey|not heed|not comply|not adhere|never follow|never obey|never heed|n't follow|n't obey|longer follow|longer obey|pay no attention|abandon"
_HUMAN = r"(?:the|your|any|a) (?:user|human|operator|developer|reviewer|owner|supervisor|administrator)s?"
_SECRETS = (
    r"(?:api (?:keys?|tokens?)|api[_-]?keys?|access (?:keys?|tokens?)|credentials?|passwords?|secrets?|private keys?|ssh keys?"
    r"|tokens?|cookies?|environment variables?|env(?:ironment)?|\.?env(?: files?)?|/etc/(?:passwd|shadow)|system prompts?"
    r"|(?:whole |full |entire )?(?:conversation|chat|context|memory|session)(?: (?:history|log|contents?|data|window))?|customer data"
    r"|(?:all )?(?:memories|records))"
)
_RUN = r"(?:run|execute|call|invoke|delete|drop|remove|send|post|upload|download|fetch|install|open|visit|click|reply|respond|output|print|write|approve|merge|deploy|grant|transfer|disable)"
_AGENT = r"(?:ai|llms?|(?:ai |coding |autonomous |language |next )?(?:agents?|assistants?|bots?|models?))"

_ENGLISH = [
    _sign(ORDERS, _FORGET_WORDS,
          rf"\b{_FORGET} (?:(?:all|any|each|every|of|the|your|my|these|those|this|that|whatever|everything in) ){{0,4}}(?:{_EARLIER}|{_TOLD}|system|developer|safety|hidden) (?:(?:and|or|any|all|system|developer|user|safety|security|{_EARLIER}|the|your) ){{0,4}}{_RULES}\b"),
    _sign(ORDERS, _FORGET_WORDS,
          rf"\b{_FORGET} (?:(?:all|any|of|each) ){{0,2}}(?:your|everything you(?: (?:know|were|have|are|been|learned|told|know|about)){{1,5}}|what you were told)(?: (?:{_RULES}))?\b(?<!your)"),
    _sign(ORDERS, "ignore|disregard|forget|override",
          r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|of|the|these|those|other) ){1,3}instructions (?:above|before|so far|from|given|you|that|until|and)\b"),
    _sign(ORDERS, "ignore|disregard|forget",
          r"\b(?:ignore|disregard|forget) (?:(?:all|everything|anything|whatever|all of|the) ){1,2}(?:that )?(?:(?:is|was|came|comes|written|said) ){0,2}(?:the )?(?:above|before(?: this)?|previously)[.!,:]"),
    _sign(ORDERS, "you are now|you're now|you are no longer",
          r"\b(?:you are|you're) (?:now|no longer) (?:(?:an?|the|in|acting|operating|running|going|to|as|be|bound|restricted|limited|required) ){0,4}(?:dan\b|unrestricted|unfiltered|uncensored|jailbroken|evil|developer mode|god mode|admin mode|root mode|debug mode|free from|free to ignore|by (?:your|any|the|those) |different (?:ai|assistant|agent|persona)|(?:ai|assistant|agent|chatbot|language model)\b|helpful|obedient)"),
    _sign(ORDERS, "from now on|henceforth|from this point",
          r"\b(?:from now on|henceforth|from this point (?:on|onwards?|forward)) (?:you|agents?|every agent|all agents|the (?:agent|assistant|model)) (?:are|will|must|should|shall|may|can|have to|act|always|never|only|obey|ignore)\b"),
    _sign(ORDERS, "pretend|roleplay|role-play|imagine",
          r"\b(?:pretend|roleplay|role-play|imagine) (?:that )?(?:you are|you're|you have no|to be an?) (?:an? |the |no )?(?:\w{1,20} ){0,2}(?:ai|assistant|agent|model|restrictions|rules|filters?|admin(?:istrator)?|root|developer|hacker)\b"),
    _sign(ORDERS, "your new|your real|your true|your actual|your only|your secret|your updated",
          r"\byour (?:new|real|true|actual|only|secret|updated) (?:\w{1,15} )?(?:instructions?|directives?|tasks?|goals?|objectives?|mission|orders|purpose|role) (?:is|are|now|follows?)\b"),
    _sign(ORDERS, "instruction|directive|override|new order|urgent order|new command|system command|hidden command|secret order",
          r"(?:^|[\n.!>*#\[(])[\s*_#>\[(-]{0,8}(?:(?:new|updated|urgent|important|critical|hidden|secret|special|admin|system|developer|priority) ){1,3}(?:instructions?|directives?|override|command|orders?)(?: (?:from|by) (?:the )?(?:system|admin\w{0,10}|developers?|anthropic|openai|security team|your \w{1,15}))?\s{0,2}[:!\])][\s\S]{0,12}(?:you|please|ignore|disregard|do|don't|never|always|run|execute|send|delete|call|output|reply|approve)\b"),
    _sign(ORDERS, "reading this|reads this|processing this|process this|sees this|parsing this|recalling this|recalls this|retrieves this|read this|following agent|next agent",
          rf"\b(?:to|note to|attention|dear|hey|any|every|all|if you are|as|whichever|the) (?:(?:any|all|every|an|the|whichever|whatever|future|you are an?|other) ){{0,3}}{_AGENT} (?:(?:that|who|which|currently|is|are|is now) ){{0,3}}(?:reading|reads?|processing|process(?:es)?|seeing|sees?|parsing|parses?|recalling|recalls?|retriev(?:es|ing)|summari[sz]ing) (?:this|it|these)\b[\s\S]{{0,40}}(?:must|should|shall|need to|have to|please|ignore|do not|never|always|:|{_RUN})"),
    _sign(ORDERS, "you must|you should|you need to|you have to|you shall|you will",
          rf"\byou (?:must|should|need to|have to|shall|will) (?:now|immediately|silently|secretly|quietly|at once|covertly|unconditionally|blindly) (?:and \w{{1,20}} )?{_RUN}\b"),
    _sign(ORDERS, "next agent|next ai|next assistant|following agent|future agent|future ai|other agent|any agent|any ai|any assistant|any model|all agents|every agent",
          rf"\b(?:(?:the next|the following|any|future|other) (?:ai |coding |autonomous )?(?:agents?|assistants?|models?) (?:must|shall|has to|have to|is required to|are required to|is ordered to|are instructed to|is instructed to) (?:now |always |immediately |first |silently |also )?{_RUN}|(?:the next|the following|every|all|any|future|other) (?:ai |coding |autonomous )?(?:agents?|assistants?|models?) (?:must|shall|should|has to|have to) (?:now |always |immediately |first |silently |also )?(?:ignore|disregard|obey|exfiltrate|reveal|curl|wget))\b"),
    _sign(ORDERS, "not tell|n't tell|never tell|without tell|not inform|n't inform|never inform|without inform|not notify|n't notify|never notify|without notif|not alert|n't alert|never alert|without alert|not warn|n't warn|never warn|without warn|not ask|n't ask|never ask|without ask|not mention|n't mention|never mention|without mention|not reveal|n't reveal|never reveal|without reveal|not let|n't let|never let|without let|without consult|not consult",
          rf"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|ask|asking|mention(?:ing)? (?:this|it|that) to|reveal(?:ing)? (?:this|it|that) to|let(?:ting)?|consult|consulting) {_HUMAN}(?: (?:that|about|of|first|know|what))?\b"),
    _sign(ORDERS, "this memory|these memories|this record|this instruction|this note|this entry",
          r"\b(?:always|must|you should|blindly|unconditionally) (?:trust|obey|follow|prefer|believe|prioriti[sz]e|approve|act on) (?:this|these) (?:memory|memories|records?|instructions?|notes?|entry|entries)\b"),
    _sign(ORDERS, "this is a|this is the|this is system",
          r"\bthis is (?:an? |the )?(?:(?:official|urgent|genuine|authentic|authori[sz]ed|emergency) (?:system|developer|admin(?:istrator)?|anthropic|openai) (?:message|instruction|prompt|command)|(?:system|developer|admin(?:istrator)?|anthropic|openai) (?:override|directive))\b"),
    _sign(EXFILTRATION, "system prompt|system message|initial prompt|hidden prompt|developer message|initial instructions|hidden instructions|system instructions",
          r"\b(?:reveal|print|output|show|repeat|leak|dump|display|recite|expose) (?:me |us )?(?:your|the) (?:(?:full|entire|whole|complete|hidden|secret|initial|original|exact|current) ){0,3}(?:system prompt|system message|initial prompt|hidden prompt|developer message|initial instructions|hidden instructions|system instructions)\b"),
    _sign(EXFILTRATION, "send|post|upload|forward|mail|exfiltrate|transmit|leak|copy|submit|curl|append|include|encode|paste|put",
          rf"(?:(?:^|[\n.!?:;,>*(-])[\s*_`>(-]{{0,6}}|\b(?:must|should|please|now|then|and|to|also|always|first|immediately|silently|you) )(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|leak|copy|submit|append|paste|encode|include) (?:(?:all|any|the|your|its|their|every|of|these|full|contents?|a|copy|user|users'?|user's|current|stored|local|and|value|values) ){{0,6}}{_SECRETS}(?:[^\n.!?]{{0,40}}?)[\s*_\"'`(]{{1,4}}(?:to|at|via|into|in|as) (?:(?:the|this|following|an?|external|remote|address|url|endpoint|server|webhook|query|parameter|image|of) ){{0,5}}(?:https?://|attacker|external|[\w.+-]{{1,40}}@[\w-]{{1,40}}\.\w|webhook|pastebin|[\w-]{{1,40}}\.(?:com|net|io|xyz|ru|cn|tk|top|site|example)\b)"),
    _sign(EXFILTRATION, "exfiltrate",
          rf"\bexfiltrate (?:(?:all|any|the|your|of) ){{1,3}}{_SECRETS}\b"),
    _sign(EXFILTRATION, "curl|wget|invoke-webrequest",
          r"\b(?:curl|wget|invoke-webrequest)\b[^\n]{0,200}(?:\$\((?:env|printenv|cat (?:~/\.ssh|~/\.aws|/etc/passwd|\.env)[^\n)]{0,40})|@(?:~/\.ssh/|~/\.aws/|/etc/passwd|\.env\b|/proc/self/environ)|\$\(?(?:AWS_SECRET|GITHUB_TOKEN|OPENAI_API|ANTHROPIC_API))"),
]  # fmt: skip

# --- Other languages: what is forgotten, what it was; scripts without blanks have none between ----------------------
_OTHERS = [
    _Sign(ORDERS, ("忽略", "无视", "無視", "忘记", "忘掉", "忘記", "不要遵守", "不要理会", "不要遵循", "绕过"),
          re.compile(r"(?:忽略|无视|無視|忘记|忘掉|忘記|不要遵守|不要遵循|不要理会|绕过)[^。！？\n]{0,8}(?:之前|此前|以前|先前|上述|以上|上面|前面|所有|全部|一切|你的|系统|系統|任何)[^。！？\n]{0,8}(?:指令|指示|提示词|提示詞|系统提示|命令|设定|設定|安全规则|限制规则|约束|规则)")),
    _Sign(ORDERS, ("从现在", "從現在", "从此"),
          re.compile(r"(?:从现在开始|从现在起|從現在開始|從現在起|从此以后)[，,\s]{0,2}(?:你|您|所有代理|所有智能体)(?:是|必须|必須|将|將|要|只能|应该|不再)")),
    _Sign(ORDERS, ("不要", "请勿", "切勿", "无需"),
          re.compile(r"(?:不要|请勿|切勿|无需)(?:告诉|通知|告知|提醒|询问|询问过|让)(?:用户|人类|操作员|管理员|开发者)")),
    _Sign(EXFILTRATION, ("密钥", "密码", "凭据", "令牌", "环境变量", "系统提示", "聊天记录", "api key", "对话记录"),
          re.compile(r"(?i)(?:请|必须|立即|然后|并)?(?:把|将|將)[^。！？\n]{0,16}(?:密钥|密码|凭据|凭证|令牌|环境变量|系统提示词?|聊天记录|对话记录|api ?keys?)[^。！？\n]{0,16}(?:发送|发给|发到|上传|提交|转发|传送)(?:到|给|至)?[^。！？\n]{0,12}(?:https?://|邮箱|外部|[\w.+-]{1,40}@)")),
    _Sign(ORDERS, ("無視", "忘れ", "従わ"),
          re.compile(r"(?:以前|これまで|今まで|上記|前|すべて|全て|既存)の[^。\n]{0,8}(?:指示|命令|ルール|プロンプト|制約)[^。\n]{0,6}(?:無視し|忘れ|従わない)")),
    _Sign(ORDERS, ("무시", "잊어", "따르지"),
          re.compile(r"(?:이전|위의|앞의|모든|기존|지금까지)[^.\n]{0,8}(?:지시|명령|규칙|프롬프트|지침)[^.\n]{0,6}(?:무시하|무시해|잊어|따르지 마)")),
    _sign(ORDERS, "ignor|olvid|desestim|caso omiso|no sigas|omit|descart",
          r"\b(?:ignor[ae]n?|olvid[ae]n?|desestim[ae]n?|descart[ae]n?|omit[ae]n?|haz caso omiso de|hagan? caso omiso de|no sigas?) (?:(?:todas?|todos?|cualquier|las|los|la|tus|sus|mis|estas|esas|de) ){0,3}(?:instrucci(?:ones|ón)|indicaciones|órdenes|ordenes|directrices|reglas|mensajes?) (?:(?:del?|que|te|han|dado|tu) ){0,4}(?:anteriores?|previ[ao]s?|precedentes?|iniciales|originales|sistema|de arriba|antes|recibidas)\b"),
    _sign(ORDERS, "ignor|esqueç|desconsider|desobede|não sig|nao sig|descart",
          r"\b(?:ignor[ea]m?|esqueça[m]?|esqueca|desconsidere[m]?|desobedeça|descarte|não siga|nao siga) (?:(?:todas?|todos?|quaisquer|as|os|a|suas|tuas|essas|estas|de) ){0,3}(?:instruç(?:ões|ão)|instrucoes|ordens|orientações|diretrizes|regras|mensagens) (?:(?:do|da|de|que|você|recebeu|seu) ){0,3}(?:anteriores?|prévias?|previas?|precedentes?|iniciais|originais|sistema|acima|recebidas)\b"),
    _sign(ORDERS, "ignor|oubli|compte|abstraction|contourn|suis pas|suivez pas",
          r"\b(?:ignor(?:e|ez|er|ons)|oubli(?:e|ez|er)|contourn(?:e|ez|er)|ne (?:tiens|tenez) (?:pas|aucun) compte|fais abstraction|faites abstraction|ne (?:suis|suivez) pas) (?:(?:de|des|toutes?|tous|les|la|tes|vos|ces|mes) ){0,3}(?:instructions?|consignes?|directives?|règles|regles|ordres|messages) (?:(?:du|de|qui|t'ont|données|votre|ton) ){0,3}(?:précédente?s?|precedentes?|antérieure?s?|initiales|d'origine|système|systeme|ci-dessus|reçues)\b"),
    _sign(ORDERS, "ignorier|vergiss|vergessen|missacht|missächt|befolg|überschreib|umgeh",
          r"\b(?:ignorier(?:e|en sie|t)|vergiss|vergesst|vergessen sie|missachte(?:n sie|t)?|befolge nicht|umgehe|überschreibe) (?:(?:alle|sämtliche|jegliche|die|deine|ihre|diese|meine|bisher|zuvor|oben) ){0,4}(?:(?:bisherigen?|vorherigen?|obigen?|früheren?|vorigen?|vorangegangenen?|ursprünglichen?|erhaltenen?|gegebenen?|genannten?|deine|ihre) )(?:system-?)?(?:anweisungen?|instruktionen|regeln|vorgaben|befehle|anordnungen|richtlinien|nachrichten)\b"),
    _sign(ORDERS, "ignor|dimentic|trascur|non seguire",
          r"\b(?:ignor[aei]|ignorate|dimentic[ah]i?|dimenticate|trascura|non seguire) (?:(?:tutte|tutti|qualsiasi|le|gli|i|tue|vostre|queste|di) ){0,3}(?:istruzioni|indicazioni|regole|direttive|ordini) (?:(?:del|di|che) ){0,2}(?:precedenti|iniziali|originali|sistema|sopra|ricevute)\b"),
    _sign(ORDERS, "negeer|vergeet|zignoruj|ignoruj|zapomnij|yok say|görmezden|unut",
          r"(?:\b(?:negeer|vergeet) (?:(?:alle|de|je|uw|deze) ){0,3}(?:vorige|eerdere|bovenstaande|voorgaande) (?:instructies|opdrachten|regels|aanwijzingen)\b|\b(?:zignoruj|ignoruj|zapomnij(?: o)?) (?:(?:wszystkie|wszystkich|te|swoje) ){0,2}(?:poprzednie|poprzednich|wcześniejsze|powyższe) (?:instrukcj[ei]|polecenia|poleceniach|zasady)|\b(?:önceki|yukarıdaki|tüm) (?:(?:tüm|bütün) )?(?:talimatları|komutları|kuralları) (?:yok say|görmezden gel|unut))"),
    _sign(ORDERS, "игнорир|забудь|не обращай|не следуй|проигнорир",
          r"\b(?:про)?(?:игнорируй(?:те)?|забудь(?:те)?|не обращай(?:те)? внимания на|не следуй(?:те)?) (?:(?:все|всё|любые|всем|свои|твои|о) ){0,2}(?:предыдущ\w{2,4}|прошлы\w|прежни\w|вышеуказанн\w{2}|ранее|исходны\w|системны\w) (?:(?:данны\w|полученны\w) )?(?:инструкци\w{1,3}|указани\w{1,3}|правила\w?|команды?|сообщени\w|промпт\w{0,2})"),
    _Sign(ORDERS, ("تجاهل", "انس "),
          re.compile(r"(?:تجاهل|انس)\s{1,3}(?:(?:جميع|كل|كافة)\s{1,3})?(?:التعليمات|الأوامر|التوجيهات|القواعد)\s{1,3}(?:السابقة|أعلاه|الأصلية)")),
    _Sign(ORDERS, ("अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "भूल जा"),
          re.compile(r"(?:पिछले|पिछली|पहले के|ऊपर के|उपरोक्त|पूर्व)\s{1,3}(?:(?:सभी|सारे|दिए गए)\s{1,3})?(?:निर्देश|निर्देशों|आदेश|आदेशों|नियमों)\s{0,3}(?:को)?\s{0,3}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जा)")),
    _sign(ORDERS, "no le digas|no informes|não diga|não informe|ne dis pas|ne dites pas|sag |sagen sie|informiere",
          r"\b(?:no (?:le )?(?:digas|informes|avises|notifiques) (?:nada )?al (?:usuario|humano|operador)|não (?:diga|informe|avise|conte) (?:nada )?(?:ao|o) (?:usuário|utilizador|humano|operador)|ne (?:dis|dites|préviens|prévenez|informe|informez) (?:pas|rien) (?:à )?l'(?:utilisateur|humain|opérateur)|(?:sage?|sagen sie|informiere|informieren sie) (?:dem|den) (?:benutzer|nutzer|menschen|bediener) (?:nichts|nicht))\b"),
]  # fmt: skip

# --- A chat's own markers: text in them reads as another turn, or as a call ------------------------------------------
_MARKERS = [
    _Sign(ROLE_MARKER, ("<|",), re.compile(r"<\|(?:im_start|im_end|im_sep|system|user|assistant|tool|developer|endoftext|endofprompt|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|eom_id|channel|message|start|end|call|return|constrain)\|>", re.IGNORECASE)),
    _Sign(ROLE_MARKER, ("[inst]", "[/inst]", "<<sys>>", "<</sys>>"), re.compile(r"\[/?INST\]|<</?SYS>>", re.IGNORECASE)),
    _Sign(ROLE_MARKER, ("_of_turn>",), re.compile(r"<(?:start|end)_of_turn>", re.IGNORECASE)),
    _Sign(ROLE_MARKER, ("system>", "system-", "system_", "system ", "assistant_turn", "assistant_message"), re.compile(r"<{1,2}/?(?:system|system[-_ ](?:prompt|message|reminder|instructions?|override)|assistant_(?:turn|message))>{1,2}", re.IGNORECASE)),
    _Sign(ROLE_MARKER, ("system:", "system prompt", "system message", "system instruction", "system override", "system note", "system]", "system*", "developer:", "developer message", "assistant:", "系统：", "系统:"), re.compile(r"(?im)^[\s#>*_\[(-]{0,8}(?:system|developer|assistant|系统)(?:[ _-](?:prompt|message|instructions?|override|note))?[\s*_\])]{0,4}[:：][\s*_\"'`]{0,6}(?:you (?:are|must|should|will|shall|now)\b|ignore\b|disregard\b|from now on\b|new instructions?\b|override\b|你(?:是|必须|现在)|忽略)")),
    _Sign(ROLE_MARKER, ("human:",), re.compile(r"\n\n ?Human: [^\n]{1,400}\n{1,2} ?Assistant:")),
    _Sign(TOOL_CALL, ("tool_call", "function_call", "invoke", "tool_use", "tool_result", "antml", "<parameter", "function="), re.compile(r"</?(?:antml:)?(?:tool_calls?|function_calls?|tool_use|tool_results?|function_results?)>|<(?:antml:)?invoke\s{1,4}name\s?=|<(?:antml:)?parameter\s{1,4}name\s?=|<function=[\w.-]{1,64}>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\]", re.IGNORECASE)),
]  # fmt: skip

SIGNS = (*_ENGLISH, *_OTHERS, *_MARKERS)
# In a comment that no reader of the page sees, less is needed to speak to a model.
_TO_A_MODEL = re.compile(
    _words(
        rf"(?i:\b{_AGENT}\b[^\n]{{0,60}}\b(?:must|should not|shall|never|do not|don't|ignore|always)\b|\b(?:must|never|always|do not|don't|ignore)\b[^\n]{{0,60}}\b(?:ai|llms?|ai agents?|assistants?|chatbots?|language models?)\b)"
    )
)


def orders_in(text: str) -> Iterator[tuple[str, int, int]]:
    """(code, start, end) of each order, marker or call, in no order."""
    lower = in_lower_case(text)
    for sign in SIGNS:
        for start, end in _around(lower, sign.words):
            for match in sign.pattern.finditer(text, start, end):
                yield sign.code, match.start(), match.end()


def in_lower_case(text: str) -> str:
    """As long as the text: the few letters whose small form is two characters stay as they are."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _around(lower: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The stretches of text around any of the words, none overlapping another."""
    places = []
    for word in words:
        at = lower.find(word)
        while at >= 0:
            places.append(at)
            at = lower.find(word, at + AFTER // 4)  # a nearer one lies within the same stretch
    places.sort()
    start = end = -1
    for at in places:
        if at - BEFORE > end:
            if end >= 0:
                yield start, end
            start = max(0, at - BEFORE)
        end = at + AFTER
    if end >= 0:
        yield start, end


def speaks_to_a_model(text: str) -> bool:
    """True of a hidden text that orders something of a model, or has any of the signs."""
    return _TO_A_MODEL.search(text) is not None or next(orders_in(text), None) is not None
