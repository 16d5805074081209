"""The words records are written in: field labels, section headings and kinds, in many languages."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


def _table(rows: dict[str, str]) -> dict[str, str]:
    return {word.strip(): role for role, words in rows.items() for word in words.split("|") if word.strip()}


# What a metadata label (front matter key, table row, `Label: value` line) stands for.
FIELD_LABELS = _table(
    {
        "status": "status|adr status|decision status|state|current status|status of this decision|状态|狀態|当前状态|"
        "决策状态|estado|estatus|situação|statut|stato|статус|состояние|ステータス|状況|상태|stand|zustand|"
        "durum|tila|stav|stan|estado atual|estado actual",
        "date": "date|adr date|日期|时间|日付|날짜|fecha|data|datum|дата|päivämäärä|tarih|dato|day",
        "decided": "decided|decided on|决策时间|决定时间|决定日期|通过时间|決定日時|decision date|date decided|date of decision|decision made|decided at|"
        "决策日期|決定日|決定日付|结论日期|fecha de decisión|data da decisão|date de décision|entscheidungsdatum|"
        "дата решения|date de la décision",
        "accepted_on": "accepted|accepted on|date accepted|approved|approved on|approval date|acceptance date|"
        "date approved|adopted on|ratified|通过日期|批准日期|承認日|fecha de aprobación|data de aprovação",
        "created": "created|created on|created at|date created|creation date|proposed on|date proposed|drafted|"
        "proposed date|start date|date raised|raised on|submitted|创建日期|创建时间|提议日期|作成日|"
        "fecha de creación|data de criação|date de création|erstellt|erstellt am|published|published on|pubdate",
        "updated": "updated|最終更新|最終更新日|最后修改|修订日期|last updated|last modified|modified|updated on|updated at|last update|last updated on|"
        "date updated|last_updated|lastmod|更新日期|最后更新|更新日|última actualización|última atualização|"
        "letzte änderung|zuletzt aktualisiert|revised|last reviewed|last edited",
        "deciders": "decider|deciders|决策方|决定者|批准者|承認者|decision maker|decision makers|decision-makers|decision-maker|decided by|"
        "approver|approvers|approved by|decision owner|decision taken by|决策者|决策人|批准人|決定者|decisores|"
        "responsables|responsáveis|entscheider|décideurs|принявшие решение|accepted by|beslutningstakere",
        "authors": "author|authors|author(s)|written by|proposer|proposed by|owner|owners|contact|submitter|"
        "created by|champion|lead|driver|作者|提议者|提案者|負責人|负责人|起草人|autor|autores|autoren|auteur|"
        "auteurs|автор|authored by|submitted by|editor|editors|contributors|提出者|著者",
        "tags": "tags|tag|keywords|keyword|categories|category|labels|topics|标签|標籤|关键词|etiquetas|"
        "schlagwörter|mots-clés|теги|タグ",
        "supersedes": "supersedes|superseding|replaces|supercedes|obsoletes|取代|替代|ersetzt|remplace|"
        "reemplaza|sustituye a|substitui|заменяет",
        "superseded_by": "superseded by|superseded-by|superceded by|replaced by|obsoleted by|supersededby|"
        "被取代|取代者|被替代|ersetzt durch|remplacé par|reemplazado por|substituído por|sustituido por|заменено на",
        "amends": "amends|updates|extends|modifies|clarifies|修改|补充",
        "amended_by": "amended by|updated by|extended by|modified by|clarified by",
        "deprecates": "deprecates",
        "deprecated_by": "deprecated by",
        "relates_to": "related|related to|relates to|related adrs|related adr|related decisions|links|linked to|"
        "depends on|see also|相关|相关决策|関連|relacionado|relacionados|verwandt|related records|"
        "refines|refined by|relates",
        "title": "title|标题|標題|タイトル|題名|título|titulo|titel|titre|titolo|заголовок|decision title|adr title",
        "number": "number|adr number|编号|編號|番号|número|nummer|numéro|номер|adr id|adr#|adr no|decision id|"
        "decision number|adr",
        # A label that is known and says nothing we keep: it makes a block recognisable as metadata.
        "other": "scope|tickets|ticket|other docs|significance|consulted|informed|technical story|impact|deadline|"
        "field|property|attribute|key|version|component|components|domain|stakeholders|reviewers|reviewed by|"
        "issue|pr|pull request|discussion|tracking issue|team|project|priority|sponsor|jira|layout|parent|"
        "nav_order|description|sidebar_label|slug|permalink|weight|group|type|target release|review date|字段",
    }
)


def words_of(words: str) -> frozenset[str]:
    """The words of a line as a set."""
    return frozenset(words.split())


# Which part of a record a heading opens. "meta" opens a block that holds labels, "none" opens nothing kept apart.
SECTION_ROLES = _table(
    {
        "status": "status|adr status|decision status|current status|state|状态|狀態|决策状态|当前状态|estado|estatus|"
        "situação|statut|stato|статус|состояние|ステータス|状況|상태|stand|zustand|durum|tila|stav|estado atual",
        "date": "date|日期|日付|날짜|fecha|datum|дата|decision date|date of decision",
        "changelog": "changelog|change log|history|revision history|version history|document history|revisions|"
        "status history|decision history|change history|changes log|revision log|update history|updates|变更记录|"
        "变更历史|修订记录|修订历史|更新记录|历史|更新日志|変更履歴|改訂履歴|historial|historial de cambios|histórico|"
        "historique|änderungshistorie|historie|änderungsverlauf|история|история изменений|amendments log|log",
        "meta": "metadata|meta|meta data|adr metadata|document information|information|info|details|record details|"
        "decision metadata|元数据|元信息|メタデータ|metadatos|metadados|métadonnées|metadaten|front matter",
        "context": "context|context and problem statement|context and problem|context & problem statement|background|"
        "problem|problem statement|issue|motivation|introduction|problem description|the problem|current state|"
        "current situation|situation|requirements|constraints|assumptions|forces|goals|non-goals|non goals|scope|"
        "goals and non-goals|overview|abstract|summary|drivers of change|the issue|question|背景|上下文|语境|脉络|"
        "问题|问题陈述|背景与问题|问题描述|背景和问题陈述|背景和问题|コンテキスト|文脈|課題|背景と課題|"
        "コンテキストと問題の説明|배경|맥락|컨텍스트|contexto|contexto e problema|contexto y problema|problema|"
        "contexto y planteamiento del problema|contexto e declaração do problema|contexte|contexte et problème|"
        "problème|énoncé du problème|contexte et énoncé du problème|kontext|kontext und problemstellung|hintergrund|"
        "problemstellung|ausgangslage|contesto|contesto e problema|контекст|проблема|контекст и проблема|achtergrond|"
        "context en probleemstelling|bakgrund|bakgrunn|bağlam|tausta|resumen|zusammenfassung|概要|摘要|antecedentes",
        "decision": "decision|decision outcome|decisions|outcome|the decision|solution|resolution|proposal|"
        "proposed solution|proposed decision|final decision|decision made|conclusion|recommendation|our decision|"
        "chosen option|chosen solution|selected option|what|how|design|detailed design|proposed design|"
        "decision result|解决方案|决策|决定|决策结果|决议|方案|结论|決策|決定|決定事項|結論|採用案|결정|decisión|"
        "decisao|decisão|resultado de la decisión|resultado da decisão|solución|solução|décision|"
        "résultat de la décision|solution retenue|entscheidung|ergebnis der entscheidung|entscheidungsergebnis|"
        "beschluss|lösung|decisione|esito della decisione|soluzione|решение|принятое решение|beslissing|besluit|"
        "beslut|beslutning|karar|päätös|rozhodnutí|decyzja|decision & rationale",
        "rationale": "rationale|reasoning|justification|why|decision drivers|drivers|argument|arguments|reason|"
        "reasons|decision rationale|decision driver|decision criteria|evaluation criteria|criteria|motivation for decision|理由|"
        "依据|原因|决策理由|决策驱动因素|决策驱动|决策因素|理由と根拠|根拠|決定の理由|決定要因|justificación|justificativa|"
        "razones|factores de decisión|fatores de decisão|direcionadores da decisão|motivadores|justification de la "
        "décision|facteurs de décision|begründung|entscheidungstreiber|entscheidungsfaktoren|einflussfaktoren|"
        "motivazione|fattori decisionali|обоснование|причины|motivering|begrunnelse",
        "alternatives": "alternatives|alternatives considered|considered options|options|options considered|"
        "considered alternatives|pros and cons of the options|pros and cons of the alternatives|"
        "alternative approaches|other options|alternative solutions|alternatives rejected|rejected alternatives|"
        "pros and cons|possible solutions|solutions considered|positions|trade-offs of the options|option analysis|"
        "rejected options|evaluation|comparison|备选方案|可选方案|考虑的选项|备选项|选项|方案对比|候选方案|"
        "选项的优缺点|各选项的优缺点|考虑过的方案|替代方案|検討した選択肢|選択肢|代替案|検討した代替案|選択肢の長所と短所|"
        "대안|alternativas|alternativas consideradas|opciones consideradas|opções consideradas|opciones|opções|"
        "alternativas analisadas|pros y contras de las opciones|prós e contras das opções|options envisagées|"
        "options considérées|alternatives envisagées|avantages et inconvénients des options|alternativen|"
        "betrachtete optionen|betrachtete alternativen|optionen|erwogene optionen|vor- und nachteile der optionen|"
        "opzioni considerate|alternative|alternative considerate|альтернативы|рассмотренные варианты|варианты|"
        "overwogen opties|alternativ|seçenekler|vaihtoehdot",
        "consequences": "consequences|implications|impact|impacts|results|positive consequences|effects|"
        "negative consequences|risks|trade-offs|tradeoffs|consequence|outcomes|drawbacks|risks and mitigations|"
        "side effects|stakeholder impacts|ramifications|impact analysis|后果|结果|影响|决策影响|后续影响|積極影響|正面影响|"
        "负面影响|积极后果|消极后果|結果|影響|帰結|トレードオフ|결과|영향|consecuencias|consequências|impacto|"
        "conséquences|consequences of the decision|konsequenzen|folgen|auswirkungen|conseguenze|последствия|"
        "следствия|gevolgen|konsekvenser|sonuçlar|seuraukset|důsledky|konsekwencje",
        "tags": "tags|keywords|labels|标签|タグ",
        "people": "author(s)|authors|author|deciders|decision makers|作者|reviewers|participants",
        "links": "links|related decisions|related adrs|related|more information|see also|相关决策|更多信息|enlaces|"
        "relates to|related artifacts|related records",
        "none": "references|reference|notes|note|confirmation|validation|compliance|discussion|"
        "appendix|reviews|future work|open questions|implementation|table of contents|参考|参考资料|参考文献|附录|"
        "备注|参照|参考情報|referencias|referências|références|referenzen|notizen|notas|riferimenti|ссылки|"
        "actions|todo|glossary|terminology|toc|contents",
    }
)

CORE_ROLES = frozenset({"status", "context", "decision", "rationale", "alternatives", "consequences"})

# Short names of the kind of document; with a number behind them they are a prefix, never a title.
KIND_ACRONYMS = (
    "MADR",
    "LADR",
    "AADR",
    "AgDR",
    "ADRs",
    "ADR",
    "RFC",
    "RFD",
    "ADD",
    "DDR",
    "EDR",
    "TDR",
    "PDR",
    "DR",
    "AD",
    "KDD",
)
KIND_PHRASES = (
    "any decision record", "architecture decision records", "architecture decision record", "architectural decision records",
    "architectural decision record", "architecture decisions", "architectural decisions", "architecture decision log",
    "architecture decision", "architectural decision", "architecture design record", "decision records",
    "decision record", "decision log", "decisions", "decision", "technical decision record", "technical decision",
    "design decision", "design decisions", "request for comments", "架构决策记录", "架構決策記錄", "架构决策", "架构决定", "决策记录", "决策", "決策", "技术决策记录",
    "アーキテクチャ決定記録", "アーキテクチャ決定", "アーキテクチャ意思決定記録", "설계 결정 기록",
    "architekturentscheidungen", "architekturentscheidung", "entscheidung", "registro de decisión de arquitectura",
    "registro de decisiones de arquitectura", "registro de decisão de arquitetura", "registro de decisões de arquitetura",
    "registros de decisão de arquitetura", "registro de decisão arquitetural", "registro de decisión arquitectónica", "decisão",
    "decisión", "décision d'architecture", "décisions d'architecture", "registre des décisions d'architecture", "décision",
    "registro delle decisioni architetturali", "decisione architetturale", "архитектурное решение",
    "запись архитектурного решения", "записи архитектурных решений", "arkitekturbeslutning", "arkitekturbeslut",
)  # fmt: skip

TEMPLATE_WORDS = words_of(
    "template templates tmpl boilerplate skeleton plantilla plantillas vorlage vorlagen modele "
    "modèle gabarit modelo 模板 模版 テンプレート 템플릿 шаблон szablon sjabloon mall mal"
)

_MARKUP = re.compile(r"[*_`#~\[\]{}<>|\\\"“”]+")
_NUMBERING = re.compile(
    r"^(?:[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}[.)、]?|[ivx]{1,5}[.)]|[a-z][.)]|[一二三四五六七八九十]{1,3}[、.])\s*(?=\D)"
)
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]{0,200}[)）]")
_HYPHENS = re.compile(r"[\s_\-]+")


@lru_cache(maxsize=4096)
def normalised_label(written: str) -> str:
    """A label or heading as it is looked up: no markup, numbering, emoji or colon, one case."""
    text = unicodedata.normalize("NFKC", written[:400])
    text = _MARKUP.sub(lambda m: "_" if m.group() == "_" else " ", text)
    text = "".join(c for c in text if unicodedata.category(c) not in {"So", "Sk", "Cf", "Mn"} or c.isalnum())
    text = " ".join(text.split()).casefold().strip(" :：-–—.!?")
    return _NUMBERING.sub("", text, count=1).strip(" :：-–—.!?") if text else text


@lru_cache(maxsize=4096)
def field_of(label: str) -> str | None:
    """The field a metadata label names, or None where the label is not known."""
    text = normalised_label(label)
    for candidate in (
        text,
        _HYPHENS.sub(" ", text),
        _PARENTHESIS.sub("", text).strip(),
        re.sub(r"\(s\)$", "s", text),
    ):
        if candidate in FIELD_LABELS:
            return FIELD_LABELS[candidate]
    # Two languages side by side, "状态 / Status" or "Status (状态)".
    for part in re.split(r"[/／(（)）]", text)[:3]:
        if part.strip() in FIELD_LABELS:
            return FIELD_LABELS[part.strip()]
    return None


@lru_cache(maxsize=4096)
def role_of(heading: str) -> str | None:
    """The part of a record a heading opens, or None where the heading is the author's own."""
    text = normalised_label(heading)
    if not text or len(text) > 80:
        return None
    plain = _PARENTHESIS.sub("", text).strip()
    for candidate in (text, plain, text.replace("-", " ")):
        if candidate in SECTION_ROLES:
            return SECTION_ROLES[candidate]
    # "Kontext / Context" is one heading in two languages; of "Context and scope" the first part tells.
    for part in re.split(r"\s*[/／()（）]\s*", text)[:2]:
        if part in SECTION_ROLES:
            return SECTION_ROLES[part]
    return SECTION_ROLES.get(re.split(r"\s*(?:[&:：]|\s-\s|\band\b|\by\b|\bund\b|\bet\b|和|与)\s*", text)[0])


def is_section_name(heading: str) -> bool:
    """Whether a heading is exactly the name of a part; "Design of the queue" and "Options and limits" are not."""
    return normalised_label(heading) in SECTION_ROLES
