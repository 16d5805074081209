"""Texts in several scripts, and what a search for words finds among them."""

from recall.search import search
from records.query_language import parse

TEXTS = {
    "chinese": ("使用缓存来降低延迟", "我们决定在订单服务里使用 Redis 缓存。"),
    "japanese": ("キャッシュを使う", "注文サービスでキャッシュを使うことにした。"),
    "korean": ("주문 서비스 캐시", "주문 서비스에서 캐시를 사용한다."),
    "hindi": ("कैश का उपयोग", "हम ऑर्डर सेवा में कैश का उपयोग करेंगे।"),
    "portuguese": ("Configuração do cartão de crédito", "A decisão é não guardar o número do cartão."),
    "identifiers": (
        "Call getUserById once",
        "Use order_total_cents, retry-after and HTTPServer; k8s and Go only.",
    ),
    "stops": ("The who and the what", "How this will be: who was that for."),
    "emoji": ("Ship it 🚀", "A rocket 🚀 for every release; 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 letters."),
    "plain": ("Serve prices from a cache", "Cache aside with Redis keeps latency low at the order service."),
}


def found(text, project, **options):
    answer = search([project.pk], parse(text), **{"meaning": False, **options})
    assert not answer.problems, answer.problems
    return [hit.record.node_id for hit in answer.hits]
