"""What in a sentence claims something that a run or a source could refute: a number, a comparative, an absolute.

The rules prefer precision: what they leave out is a definition, an instruction, a question, a condition or a
possibility more often than it is a claim.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["number", "comparative", "absolute"]
KINDS: tuple[Kind, ...] = ("number", "comparative", "absolute")  # a sentence is of the first that fits
_BLANK = "\ue003"  # for characters of what claims nothing


def kind(masked: str) -> Kind | None:
    """What a sentence claims, if it claims something.

    Args:
        masked: the sentence, as `Sentence.masked` has it.
    """
    if " " in masked and not _ENDS.search(masked):  # a question, or a cell of a table that may name a symptom
        return "number" if _NUMBER.match(masked) or _BOUND_NUMBER.match(masked) else None
    if _NUMBER.search(masked) and _NUMBER.search(_INSTRUCTION.sub(_blank, masked)):
        return "number"
    if not (_COMPARATIVE.search(masked) or _ABSOLUTE.search(masked)):  # spares the time of what follows
        return None
    claimed = _SILENT.sub(_blank, _INSTRUCTION.sub(_blank, masked))
    return "comparative" if _COMPARATIVE.search(claimed) else "absolute" if _ABSOLUTE.search(claimed) else None


def _blank(match: re.Match[str]) -> str:
    return _BLANK * len(match[0])


def _words(text: str) -> str:
    """A pattern for any of these words."""
    return rf"\b(?:{'|'.join(text.split())})\b"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_ENDS = re.compile("[.!:;…][)*\"'”\ue000-\ue002]*$")

# What claims nothing, whatever words it holds.

_VERBS_OF_ORDERS = _words("""
    accept add apply ask assert assign avoid begin build calculate call cast change check choose clear clip close
    collect combine compare compile compute confirm consider convert copy count cut decide define derive describe
    divide do don't drop estimate evaluate evict expect explain export extend fill find fit follow freeze generate
    give go guard hold ignore imagine implement initialise keep lay leave let list load log look lower make mark mask
    measure merge move multiply name never normalise note open pack pad pass pick place plan plot predict prefer print
    profile prove provide push put quantise raise read recompute record reduce remember remove repair repeat replace
    report reproduce reserve restore return run sample save say scale see send set shard show shuffle simulate sketch
    skip solve sort speed split start state stay step stop subtract suppose swap switch synchronise take teach tell
    test think time trace train try turn update use wait walk watch work wrap write
""")
_FINITE = _words("is are was were has have does do did can cannot may of never always alone")
# From its verb to where a reason or a result follows.
_INSTRUCTION = _any(
    r"(?:^|(?<=[.;:] ))(?:(?:so|then|now|first|always|or|and|better|next|else|otherwise|therefore|instead)[,:]? )*"
    rf"{_VERBS_OF_ORDERS}(?! *{_FINITE}).*?"
    r"(?=[;:.]|,? (?:because|since|so that)\b|, (?:it|they|and it|and they|so|which)\b|$)",
)
_MODAL = _words("may might could would should must shall can")
_SILENT = _any(
    # A condition, up to the comma after it.
    rf"(?<!only )(?<!even ){_words('if when whenever unless until where wherever whether once')}[^,;:.]*",
    r"(?:^|, |\bfor )as (?:long|soon|far) as\b[^,;:.]*",
    # What only may be, or would be.
    rf"{_MODAL}(?: \w+){{0,4}}? (?:\w+er|more|less|twice|half|always|exactly|equal|the same|identical)\b",
    r"\b(?:you|we|one|I) can(?:not)? (?:always )?",
    # A selection.
    r"\bwhat(?:ever)? (?:is|are|was) \w+er than\b",
    r"\b(?:what|which|that|who|whoever) (?:\w+ ){0,2}(?:never|always|cannot)\b",
    r"\b(?:first|second|other|one|either|this|last|each) half of\b",
    r"\b(?:an?|any|one) [\w-]+ (?:that|which) (?:is|was|costs|needs|takes|has) (?:\w+ ){0,2}"
    r"(?:nothing|times|twice|more|less|fewer|better|worse|larger|smaller|slower|faster|longer|shorter)\b"
    r"(?: (?:too|as|than)\b)?",
    r"\bwhat (?:is|are|was) the same\b",
    # Phrases.
    r"\b(?:is|are) half of (?:it|a)\b",
    r", never (?:in|the|a|by|from|on|with)\b",
    r"\b(?:no|any|once|one|two|three|some|many|few|several|a little|the) (?:more|less|longer|other)\b",
    r"\bmore or less\b",
    r"\b(?:rather|other) than(?: twice)?\b",
    r"\b(?:not|once or) twice\b",
    r"\bmore (?:than|of) (?:one|once|that|this|it|them|a \w+)\b",
    r"\bmore about\b",
    r"\bhigher.order\b",
    r"\b(?:lower|upper) (?:triang\w+|bounds?|corner|case|half|left|right)\b",
    r"\bnot (?:only|always|all|exactly|identical|equal|the same)\b",
    r"\bat (?:most|least|all|the same time)\b",
    r"\bnever ?mind\b",
    r"\bas always\b",
)

# Numbers with a meaning.

_FIGURE = r"(?<![\w.=/^·−-])(?:\d{1,3}(?:[,\u202f ]\d{3})+|\d+)(?:\.\d+)?(?![\w./]*\d)"
_SPELT = _words("two three four five six seven eight nine ten twenty thirty fifty hundred thousand")
_UNIT = (
    r"(?:%|×(?! ?\d)|per ?cent\b|(?:percentage )?points\b|(?:ms|µs|μs|us|ns|s|min|h|W|kWh|[MG]?Hz)\b"
    r"|(?:micro|milli|nano)?seconds?\b|minutes?\b|hours?\b|days\b|weeks\b|dollars?\b"
    r"|[kKMGT]i?B(?:/s)?\b|(?:kilo|mega|giga|tera)?bytes?\b|[MGTP]?FLOPs?(?:/s)?\b"
    r"|(?:tokens|samples|images|requests|steps) (?:a|per) \w+)"
)
_MEASURED = _words("accuracy accuracies error errors loss losses perplexity return returns reward rewards score scores")
_NUMBER = _any(
    rf"{_FIGURE}[ \u202f-]?{_UNIT}",
    rf"{_FIGURE} (?:thousand|million|billion|trillion)\b",
    rf"{_SPELT} (?:per ?cent|(?:micro|milli|nano)?seconds|minutes|hours)\b",
    r"\b(?:about|nearly|roughly|around|almost|near|≈|~) ?−?(?:\d+\.\d+|\d{2,}(?:,\d{3})*)(?!\w|[.,]\d)",
    r"\b(?:more|less|fewer) than \d{1,3}(?:,\d{3})+(?![\w,])",
    r"(?<![\w.])[$€]\d",
    rf"{_MEASURED}(?: [a-z]+){{0,4}} −?\d+\.\d+(?!\w|\.\d)",
)

_BOUND_NUMBER = re.compile(rf"(?:at least|at most|up to|by default) (?:{_NUMBER.pattern})", re.IGNORECASE)

# Comparatives.

_MORE = _words("""
    faster slower larger smaller bigger fewer cheaper shorter longer higher lower worse better stronger weaker less
    more quicker lighter heavier flatter steeper noisier rarer safer harder easier finer coarser denser simpler wider
    narrower tighter smoother
""")
_VERB = r"(?<!\bto )" + _words("""
    is are was were becomes become became gets got makes made stays runs ran trains trained takes took needs need needed
    costs cost works does do did learns learned learnt forgot falls fell grows looks keeps kept has have had gives gave
    moves reads computes uses used saves sends sent loses lost performs converges starts comes generalises scores wins
    pays seems remains means leaves left holds become get make stay run train take cost learn look keep give move send
    lose start mean fall grow perform
""")
_ADVERB = (
    r"(?:(?:a|an|the|little|bit|much|far|even|still|often|usually|seldom|rarely|slightly|clearly|both|it|them|itself|also"
    r"|several|many|somewhat|hardly|therefore|then|now|here|not|no|only|twice|\w+ly|\w+ times) ){0,3}"
)
_TIMES = rf"(?:{_SPELT}|{_words('many several')}|\d[\d.,]*)(?: \w+)? times"
_WAS = _words("is are was were")
_SO = r"(?:about |almost |nearly |exactly |just )?"
_COMPARATIVE = _any(
    rf"{_MORE}(?: [\w-]+){{0,4}} than\b(?! (?:a limit|needed|necessary)\b)",
    rf"{_VERB} {_ADVERB}{_MORE}",
    rf"^(?:{_MORE}(?= (?:only|where|when|at|once|by|and|but|with)\b| {_BLANK}|[,.;]|$)|More (?!of\b)\w+ (?!than))",
    r"\btwice\b",
    r"\b(?:far|much|many times) (?:more|less|fewer)\b",
    r"\b(?:half|third|quarter|fifth|tenth|hundredth|thousandth) (?:as|of|the|that|what|its|their)\b",
    rf"\b{_TIMES} (?:as|the|that|what|its|more|less|too|{_MORE})\b",
    rf"{_VERB} {_SO}as (?:fast|slow|large|small|big|good|bad|many|much|wide|expensive|cheap|high|low|accurate|quick)"
    r" as\b(?! (?:they|it|possible|needed|you|one)\b)",
    rf"\b(?:{_WAS}|takes?|took|lasts?) {_SO}as long as\b",
    r"\b(?:doubles|halves|triples|doubled|halved|tripled|outperforms?) (?:the|it|its|them|their|each)\b",
    rf"{_WAS} the (?:fastest|slowest|cheapest|largest|smallest|best|worst)\b",
    r"\b\w+ (?:beats|overtakes)\b",
)

# Absolutes.

_SAME = _words("""
    bits? bytes numbers? values? results? loss(?:es)? gradients? weights? outputs? answers? curve time speed memory
    accuracy logits distribution tokens? parameters samples
""")
_IDLE = _words("is was as this thus has says knows shows proves means stands")
_ABSOLUTE = _any(
    r"(?<!nearly )(?<!almost )\balways\b",
    r"\bnever\b",
    r"\bidentical(?:ly)?\b",
    r"\bexactly\b",
    rf"(?:{_WAS}|\bstays?) exact\b",
    r"\bbit(?:wise| for bit|-exact\w*|-identical)\b",
    r"\bto the last (?:bit|digit)\b",
    r"\bcannot\b",
    r"\bin (?:all|every) cases?\b",
    r"\b(?:are|were) all\b",
    r"\bnone (?:of (?:the |its |their |these|them|those|it)|was|were|is|has|had)\b",
    r"\bonly (?:when|if|where|after|while|once|with|without|under|for|on|above|below)\b",
    rf"\b(?!{_IDLE})(?:\w+(?:s|ed)|cost|lost|gave|raise|send|add|reserve) nothing\b(?! but)",
    r"\bonly(?=[,.;:])",
    r"\b(?:no|nor|neither|nothing|nobody)\b[^;:.]*\bever\b",
    r"\bno difference\b",
    rf"(?<!of )the same {_SAME}(?= (?:as|in|for|on|with|from|at|up|to|by|again)\b|[.,;:]|$)",
    rf"(?:{_WAS}|\bstay(?:s|ed)?|\bremains?) (?:exactly |all |still )?the same"
    r"(?= (?:as|in|for|on|with|up|to)\b|[.,;:]|$)",
    rf"{_WAS} (?:all |then |exactly )?equal(?= (?:to|up|in|on|for|bit|again)\b|[.,;:]|$)",
    r"\bguarantees? (?:the|that|it|no|each|a|an)\b",
)
