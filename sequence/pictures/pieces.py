"""Cards and chips as SVG elements, and the colours of pictures of Sequence."""

from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.pictures.words import SHAPES, card_name
from tictactoe.games.pictures import BLUE, ORANGE

AS_TEXT = "\N{VARIATION SELECTOR-15}"  # otherwise, phones and tablets draw suits as emojis
GREEN = "#009E73"  # with BLUE and ORANGE, a palette for all colour vision (Okabe and Ito 2008)
COLOURS = (BLUE, ORANGE, GREEN)  # of the sides' chips; `SHAPES` are their shapes
DARK, GREY, RED, PALE = "#222", "#595959", "#B00020", "#F4F1EA"
HIGHLIGHT, HIGHLIGHT_EDGE = "#FFF0A8", "#7A5C00"  # colours of clickable parts

CARD_WIDTH, CARD_HEIGHT = 36, 46
CARD_STEP = 39  # pixels from one card to the next


def ink(card: str) -> str:
    """The colour of a card's text: red for diamonds and hearts."""
    return RED if card[1] in "dh" else DARK


def card_face(
    card: str, x: float, highlighted: bool = False, chosen: bool = False, with_use: bool = True
) -> str:
    """A face-up card, highlighted if it can be clicked, and raised with a thick edge if chosen.

    A jack shows its use, unless `with_use` is false because the card is too small.
    """
    fill, edge = (HIGHLIGHT, HIGHLIGHT_EDGE) if highlighted else ("white", DARK)
    width = 2.0 if highlighted else 1.0
    if chosen:
        edge, width = DARK, 3.5
    use = "wild" if card in TWO_EYED else "remove" if card in ONE_EYED else ""
    use = use if with_use else ""
    rank, suit = card_name(card)[:-1], card_name(card)[-1]
    middle = f'x="{x + CARD_WIDTH / 2}" text-anchor="middle" fill="{ink(card)}"'
    return (
        f'<g data-card="{card}" transform="translate(0 {-4 if chosen else 0})">'
        f'<rect x="{x}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="4" '
        f'fill="{fill}" stroke="{edge}" '
        f'stroke-width="{width:g}"/>'
        f'<text {middle} y="17" font-size="16" font-weight="700">{rank}</text>'
        f'<text {middle} y="{33 if use else 38}" font-size="20">{suit}{AS_TEXT}</text>'
        + (f'<text {middle} y="43.5" font-size="10">{use}</text>' if use else "")
        + "</g>"
    )


def card_back(x: float) -> str:
    """A face-down card."""
    return (
        f'<g class="back"><rect x="{x}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="4" '
        f'fill="white" stroke="{DARK}"/><rect x="{x + 4}" y="4" width="{CARD_WIDTH - 8}" '
        f'height="{CARD_HEIGHT - 8}" rx="2" fill="#8C9AA8"/></g>'
    )


def chip(side: int, centre: tuple[float, float], radius: float, locked: bool = False) -> str:
    """A chip: a circle, square or triangle, with a white ring and a thick edge if it is in a
    sequence.

    The side is shown by the shape as well as the colour.
    """
    x, y = centre
    name, colour = SHAPES[side], COLOURS[side]
    style = f'stroke="{DARK}" stroke-width="{3.5 if locked else 1.2}"'
    rings = [f'class="chip {name}" fill="{colour}" {style}']
    if locked:
        rings.append('fill="none" stroke="white" stroke-width="2"')
    shapes = []
    for ring, attributes in enumerate(rings):
        r = radius - 4 * ring
        if name == "circle":
            shapes.append(f'<circle cx="{x}" cy="{y}" r="{r}" {attributes}/>')
        elif name == "square":
            s = 0.9 * r
            shapes.append(
                f'<rect x="{x - s:g}" y="{y - s:g}" width="{2 * s:g}" height="{2 * s:g}" '
                f"{attributes}/>"
            )
        else:
            s = 1.1 * r
            shapes.append(
                f'<path d="M{x} {y - s:g}L{x + s:g} {y + 0.8 * s:g}H{x - s:g}Z" {attributes}/>'
            )
    return "".join(shapes)
