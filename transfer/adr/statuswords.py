"""The words for each status, in the languages records are written in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ACCEPTED: Final = "accepted"
PENDING: Final = "pending"
REJECTED: Final = "rejected"
SUPERSEDED: Final = "superseded"
DEPRECATED: Final = "deprecated"
STATUSES: Final = (ACCEPTED, PENDING, REJECTED, SUPERSEDED, DEPRECATED)

_WORDS = {
    ACCEPTED: "accepted|accept|approved|adopted|implemented|active|done|agreed|agreed upon|decided|ratified|confirmed|final|finalized|"
    "finalised|completed|complete|in force|in effect|enforced|merged|signed off|signed-off|in use|current|valid|resolved|closed and accepted|"
    "accepted and implemented|fully implemented|delivered|shipped|released|applied|decision made|endorsed|enacted|live|"
    "通过|已通过|接受|已接受|采纳|已采纳|批准|已批准|完成|已完成|已实施|已实现|已落地|生效|已生效|采用|已采用|已确定|已决定|接受済み|承認|承認済|承認済み|承認済|採用|採用済み|採択|採択済み|受理|決定|決定済み|"
    "合意|合意済み|実装済み|完了|接受|已接受|採納|已採納|已採用|已核准|已批准|通過|已通過|승인|승인됨|승인 완료|채택|채택됨|수락|수락됨|허용됨|결정됨|"
    "aceito|aceita|aceite|aceptado|aceptada|aprobado|aprobada|aprovado|aprovada|adotado|adotada|adoptado|adoptada|implementado|implementada|"
    "ativo|ativa|activo|activa|concluído|concluída|completado|completada|vigente|decidido|decidida|"
    "akzeptiert|angenommen|beschlossen|genehmigt|freigegeben|umgesetzt|entschieden|gültig|aktiv|erledigt|verabschiedet|implementiert|bestätigt|in kraft|"
    "accepté|acceptée|approuvé|approuvée|adopté|adoptée|validé|validée|implémenté|implémentée|actif|active|terminé|terminée|décidé|décidée|en vigueur|"
    "accettato|accettata|approvato|approvata|adottato|adottata|implementato|attivo|"
    "принято|принят|принята|утверждено|утвержден|утверждён|утверждена|одобрено|одобрена|реализовано|действует|принятое|прийнято|прийнята|затверджено|"
    "geaccepteerd|aangenomen|goedgekeurd|aanvaard|geïmplementeerd|zaakceptowane|zaakceptowany|zaakceptowana|przyjęte|przyjęta|przyjęty|zatwierdzone|zatwierdzona|"
    "accepterad|accepterat|godkänd|godkänt|beslutad|beslutat|antagen|akseptert|godkjent|vedtatt|besluttet|accepteret|godkendt|vedtaget|"
    "kabul edildi|onaylandı|uygulandı|hyväksytty|přijato|přijat|schváleno|schválen|elfogadva|elfogadott|acceptat|chấp nhận|đã chấp nhận|diterima|disetujui",
    PENDING: "proposed|proposal|draft|rfc|in progress|in-progress|tbd|tba|on hold|on-hold|experimental|experiment|in discussion|under discussion|"
    "in review|under review|review|reviewing|for review|ready for review|pending|pending approval|pending review|pending acceptance|open|wip|work in progress|"
    "request for comments|request for comment|awaiting approval|awaiting decision|awaiting|under consideration|considering|to be discussed|to be decided|to be approved|to be confirmed|to be reviewed|"
    "deferred|postponed|paused|parked|stalled|provisional|trial|idea|undecided|not decided|not yet accepted|not yet approved|not yet decided|not started|suggested|submitted|"
    "in draft|discussion|discussing|drafting|initial|candidate|proposing|propose|not yet implemented|to be implemented|"
    "提议|提议中|提案|提案中|草案|草稿|待定|待讨论|待审核|待评审|待批准|待确认|待决策|讨论中|讨论|进行中|评审中|审核中|审查中|暂停|搁置|已提议|已提出|建议|實驗|实验|征求意见|未决定|"
    "提議|提議中|草擬|討論中|審核中|評審中|進行中|検討中|検討|提案済み|ドラフト|下書き|保留|保留中|議論中|レビュー中|未決定|제안|제안됨|검토중|검토 중|초안|보류|논의중|논의 중|진행중|진행 중|"
    "proposto|proposta|propuesto|propuesta|rascunho|borrador|pendente|pendiente|em discussão|em análise|em revisão|em andamento|em avaliação|em progresso|"
    "en discusión|en revisión|en curso|en progreso|en evaluación|"
    "vorgeschlagen|vorschlag|entwurf|offen|in diskussion|in arbeit|in bearbeitung|in prüfung|in abstimmung|ausstehend|zurückgestellt|zur diskussion|vorgelegt|"
    "proposé|proposée|brouillon|en cours|en discussion|en attente|en revue|à valider|proposition|ébauche|en relecture|à discuter|"
    "bozza|in discussione|in corso|in revisione|in sospeso|in attesa|предложено|предложен|предложена|предложение|черновик|на рассмотрении|обсуждается|в обсуждении|на обсуждении|"
    "на согласовании|в работе|ожидает|запропоновано|чернетка|voorgesteld|voorstel|concept|in behandeling|zaproponowane|zaproponowana|proponowane|proponowany|proponowana|propozycja|szkic|w trakcie|"
    "föreslagen|föreslaget|förslag|utkast|foreslått|foreslået|forslag|udkast|önerildi|öneri|taslak|ehdotettu|ehdotus|luonnos|navrženo|navržen|návrh|javasolt|propus|đề xuất|diusulkan|usulan",
    REJECTED: "rejected|reject|declined|withdrawn|abandoned|cancelled|canceled|dropped|not accepted|not approved|not adopted|discarded|dismissed|refused|"
    "vetoed|wontfix|won't do|will not implement|will not be implemented|denied|no-go|disapproved|unaccepted|closed and rejected|superseded and rejected|"
    "拒绝|已拒绝|否决|已否决|驳回|已驳回|撤回|已撤回|撤销|已撤销|放弃|已放弃|不通过|未通过|不接受|不采纳|未采纳|取消|已取消|拒絕|已拒絕|否決|已否決|撤銷|放棄|未通過|不採納|却下|棄却|不採用|取り下げ|見送り|中止|"
    "거부|거부됨|거절|거절됨|기각|기각됨|반려|반려됨|철회|철회됨|"
    "rejeitado|rejeitada|recusado|recusada|rechazado|rechazada|descartado|descartada|retirado|retirada|cancelado|cancelada|denegado|"
    "abgelehnt|verworfen|zurückgezogen|abgewiesen|abgebrochen|nicht angenommen|nicht akzeptiert|rejeté|rejetée|refusé|refusée|retiré|retirée|abandonné|abandonnée|écarté|annulé|"
    "rifiutato|rifiutata|respinto|respinta|scartato|ritirato|отклонено|отклонен|отклонён|отклонена|отвергнуто|отвергнут|отозвано|отменено|відхилено|"
    "afgewezen|verworpen|ingetrokken|geweigerd|odrzucone|odrzucona|odrzucony|avvisad|avslagen|avslaget|avvist|forkastet|afvist|förkastad|reddedildi|hylätty|zamítnuto|zamítnut|elutasítva|respins|từ chối|ditolak",
    SUPERSEDED: "superseded|superceded|superseeded|supersceded|supercedes by|supersedes by|superseeded|superceeded|replaced|supplanted|overridden|supersede by|subsumed|obsoleted by|"
    "已取代|被取代|已被取代|已替代|被替代|已被替代|已替换|被替换|已被替换|被代替|已被代替|已代替|被覆盖|已置換|已被取代|置き換え済み|置き換え|置換|置き換えられた|置換済み|差し替え済み|上書き|대체됨|대체|대체 됨|"
    "substituído|substituída|sustituido|sustituida|reemplazado|reemplazada|supersedido|superado|superada|sucedido|"
    "ersetzt|abgelöst|überholt durch|remplacé|remplacée|supersédé|sostituito|sostituita|superato|заменено|заменен|заменён|заменена|замінено|vervangen|zastąpione|zastąpiona|zastąpiony|"
    "ersatt|erstattet|değiştirildi|korvattu|nahrazeno|nahrazen|felváltva|înlocuit|thay thế|đã thay thế|digantikan",
    DEPRECATED: "deprecated|deprecate|obsolete|obsoleted|reverted|retired|no longer relevant|no longer valid|no longer applicable|no longer in use|no longer used|removed|expired|historical|historic|archived|inactive|sunset|rolled back|"
    "undone|outdated|decommissioned|revoked|rescinded|no longer applies|"
    "已弃用|弃用|废弃|已废弃|过时|已过时|作废|已作废|失效|已失效|废止|已废止|已棄用|棄用|廢棄|已廢棄|過時|已過時|非推奨|廃止|廃止済み|廃止予定|廃棄|陳腐化|폐기|폐기됨|사용 중단|사용중단|더 이상 사용되지 않음|"
    "obsoleto|obsoleta|depreciado|depreciada|descontinuado|descontinuada|revertido|revertida|deprecado|deprecada|en desuso|"
    "veraltet|obsolet|außer kraft|aufgehoben|überholt|rückgängig gemacht|déprécié|dépréciée|obsolète|périmé|caduc|abrogé|annulée|deprecato|deprecata|"
    "устарело|устарел|устарела|не актуально|застаріло|verouderd|vervallen|przestarzałe|przestarzały|przestarzała|wycofane|utgått|föråldrad|utdatert|forældet|udfaset|"
    "kullanımdan kaldırıldı|vanhentunut|zastaralé|zastaralý|elavult|învechit|lỗi thời|usang",
}  # fmt: skip
_STATUS_OF = {word: status for status, words in _WORDS.items() for word in words.split("|")}
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN = "|".join(re.escape(w) for w in sorted(_STATUS_OF, key=len, reverse=True) if not _CJK.search(w))
_IDEOGRAPHS = "|".join(re.escape(w) for w in sorted(_STATUS_OF, key=len, reverse=True) if _CJK.search(w))
_PATTERN = re.compile(rf"(?<!\w)(?<!\w-)(?:{_LATIN})(?!\w)|(?<![a-z])(?:{_IDEOGRAPHS})")
_NOT_YET = re.compile(
    r"(?:not yet(?: been)?|yet to be|to be|awaiting|waiting to be|pending|until|once|if|when|unless)\s+$|尚未$|未被?$|待$|noch nicht\s$|pas encore\s$"
)
_NOT = re.compile(r"(?:\bnot(?: been)?|\bnever|\bnicht|\bpas|\bno|\bnão)\s+$|不$")
_DEED = re.compile(r"^\s*\S{0,3}\s*(?:adrs?\b|\[)")


@dataclass(frozen=True)
class StatusWord:
    """A status word found in a text, with the status it stands for."""

    start: int
    text: str
    status: str


def find_status_words(text: str) -> list[StatusWord]:
    """Status words of a text in one case, in order; "not yet accepted" reads as pending, "not accepted" as rejected."""
    found: list[StatusWord] = []
    for match in _PATTERN.finditer(text):
        status = _STATUS_OF[match.group()]
        before = text[max(0, match.start() - 24) : match.start()]
        if status == ACCEPTED and _NOT_YET.search(before):
            if found:
                continue  # "accepted, to be implemented": what is still to do takes nothing back
            status = PENDING
        elif status == ACCEPTED and _NOT.search(before):
            if found:
                continue
            status = (
                PENDING
                if match.group() in {"implemented", "complete", "completed", "done", "final", "finalized"}
                else REJECTED
            )
        elif status == SUPERSEDED and _NOT.search(before):
            continue
        found.append(StatusWord(match.start(), match.group(), status))
    return found
