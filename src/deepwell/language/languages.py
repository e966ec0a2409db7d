"""The language of a question, by its script and its small words, and the small words of other languages than English.

All small words are folded, as stems.fold folds them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from deepwell.language.stems import fold, folded_words
from deepwell.language.words import STOPWORDS

ENGLISH = "en"
FEWEST = 2
"""Small words of another language that a question must hold: one may be a name, or stand in a quotation."""

_SMALL_WORDS = {
    "de": """
        aber als am an auch auf aus bei beim bin bis da das dass dem den denn der des dessen die dies diese
        diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es euch fur gab gegen
        gibt habe haben hat hatte hatten ich ihm ihn ihr ihre ihrem ihren ihrer im in ist ja jede jeder kann
        kein keine keinen konnen man mehr mein mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine
        seinem seinen seiner seit sich sie sind so sowie uber um und uns unter viel viele vom von vor wann war
        waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso
        wieviel wieviele wir wird wo wofur woher wohin worden wurde wurden zu zum zur zwischen
    """,
    "fr": """
        a ai ainsi alors au aux avec c'est ce ceci cela ces cet cette ceux combien comme comment dans de depuis
        des donc du elle elles en entre es est et etaient etait etre eu eux fait furent fut il ils je l'on la
        laquelle le lequel les lesquelles lesquels leur leurs lors lui mais meme ne ni nos notre nous on ont ou
        par pas pendant peut plus pour pourquoi qu'en qu'est qu'il quand que quel quelle quelles quels qui quoi
        sa sans se sera ses si son sont sous sur ta te tes toi ton tous tout toute toutes tres tu un une vers
        vos votre vous y
    """,
    "es": """
        a al algun alguna ante antes como con contra cual cuales cuando cuanta cuantas cuanto cuantos de del
        desde donde durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba
        estan estas este esto estos fue fueron ha han hasta hay la las le les lo los mas me mi mientras muy nada
        ni no nos nosotros o otra otras otro otros para pero por porque que quien quienes se ser si sin sobre
        son su sus tambien te tiene tienen tu tus un una unas uno unos y ya
    """,
    "it": """
        a ad agli ai al alla alle allo anche che chi ci come con cosa cui da dagli dai dal dalla dalle dallo de
        degli dei del dell della delle dello di dopo dove e ed era erano essere fra fu furono gli ha hanno i il
        in io la le lei li lo loro lui ma mi ne negli nei nel nella nelle nello no noi non o ogni per perche piu
        prima qual quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste
        questi questo se sei si sono sta stata stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu
        tutti tutto un una uno vi voi
    """,
    "pt": """
        a ao aos aquela aquele aqueles as ate com como da das de dela dele deles depois do dos durante e ela
        elas ele eles em entre era eram essa esse esta este eu foi foram ha isso isto ja la lhe mais mas me
        mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos
        por porque quais qual quando quanta quantas quanto quantos que quem sao se sem ser seu seus so sobre sua
        suas tambem te tem tinha um uma umas uns voce
    """,
    "nl": """
        aan al alle als ben bij daar dan dat de deze die dit door een en er geen had hadden heb hebben heeft het
        hij hoe hoeveel hun ik in is je kan kon maar meer men met mijn na naar niet nog nu of om onder ons ook
        op over te tegen toen tot tussen u uit uw van veel voor waar waarom wanneer want waren was wat we wel
        welk welke werd werden wie wij word worden wordt ze zich zij zijn zo zonder zou
    """,
    "ru": """
        а без более бы был была были было быть в вам вас во вот все всех вы где да для до его ее если есть еще
        же за и из или им их к как какая какие каким каких какова каковы какое какой какому какую когда кого
        кому которая которые который кто ли между меня мне мы на над не него нее нет ни них но о об он она они
        оно от откуда по под почему при с сколько со так также там то того тоже той только том ты у уже чего чей
        чем что чтобы чье чья эта эти это этого этой этом этот я
    """,
    "ar": """
        أن أو أي أية أين إذا إلى إن التي الذي الذين الى ان او اي اين بعد بين تلك ثم حتى حول خلال ذلك على عليه عن
        عند عندما في فيه فيها قبل قد كان كانت كم كما كيف لا لقد لكن لم لماذا لن له لها لهم ليس ما ماذا متى مع من
        منذ منه منها هذا هذه هل هم هنا هناك هو هي و يكون
    """,
}
_OTHER_SMALL_WORDS = {language: frozenset(map(fold, text.split())) for language, text in _SMALL_WORDS.items()}
_NONE: frozenset[str] = frozenset()
_ASKING = {
    "de": "wann warum welche welchem welchen welcher welches wem wen wer wessen wieso wieviel wieviele woher wohin",
    "fr": "combien pourquoi quand quel quelle quelles quels qui",
    "es": "cual cuales cuando cuanta cuantas cuanto cuantos donde quien quienes",
    "it": "perche quale quali quanta quante quanti",
    "pt": "onde quais qual quem",
    "nl": "hoeveel waarom wanneer welke",
}
"""What a question begins with, and hardly anything in English."""

_SCRIPTS = (
    ("ja", "\u3040-\u30ff"),
    ("ko", "\uac00-\ud7af"),
    ("zh", "\u3400-\u9fff"),
    ("fa", "پچژگ"),
    ("ar", "\u0600-\u06ff"),
    ("uk", "іїєґІЇЄҐ"),
    ("ru", "\u0400-\u04ff"),
    ("el", "\u0370-\u03ff"),
    ("he", "\u0590-\u05ff"),
    ("hi", "\u0900-\u097f"),
    ("th", "\u0e00-\u0e7f"),
)
_LETTER = re.compile(r"[^\W\d_]")
_OF_SCRIPT = [(language, re.compile(f"[{signs}]")) for language, signs in _SCRIPTS]
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
# What Chinese asks with, and its small words; what Japanese writes in Hiragana. A page would have it otherwise.
_CHINESE = (
    "为什么|為什麼|是什么|是什麼|什么时候|什麼時候|什么|什麼|怎么样|怎么|怎麼|如何|多少|是谁|是誰|由谁|谁|誰|哪里|哪裡|哪儿|"
    "哪个|哪些|哪年|哪一年|何时|何時|多高|多长|多大|多久|[是的了吗嗎呢吧和与與在由有被及]"
)
_JOINTS = {"zh": re.compile(_CHINESE), "ja": re.compile("[\u3040-\u309f]+")}


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """ISO 639-1 of the language that a question is in; English when nothing tells of another one."""
    letters = len(_LETTER.findall(text))
    if letters and len(_LATIN.findall(text)) * 2 < letters:
        return next((language for language, signs in _OF_SCRIPT if signs.search(text)), ENGLISH)
    said = folded_words(text)
    counts = {language: _told(language, said) for language in _OTHER_SMALL_WORDS}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= max(FEWEST, len(STOPWORDS.intersection(said)) + 1) else ENGLISH


def small_words(language: str) -> frozenset[str]:
    """The folded words of a language that carry no content; none for English, whose own are words.STOPWORDS."""
    return _OTHER_SMALL_WORDS.get(language, _NONE)


def without_small_signs(text: str, language: str) -> str:
    """Chinese and Japanese with spaces in place of small words; other languages have spaces of their own."""
    joints = _JOINTS.get(language)
    return joints.sub(" ", text) if joints else text


def _told(language: str, said: Sequence[str]) -> int:
    """How many small words tell of the language; one that only asks, at the beginning, counts twice."""
    asks = bool(said) and said[0] in _ASKING.get(language, "").split()
    return len((_OTHER_SMALL_WORDS[language] - STOPWORDS).intersection(said)) + asks
