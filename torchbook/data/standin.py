"""Drawn clothes with FashionMNIST's shapes and classes, for a machine that has neither the files nor a network.

The same bytes come out on every platform and with every NumPy since 1.26: everything after the random draws is
integer arithmetic, and the draws come from `numpy.random.RandomState`, whose streams NumPy has frozen (NEP 19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Polygon = list[tuple[int, int]]  # (x, y) corners in quarter pixels, 0 to 112
Drawing = list[tuple[Polygon, int]]  # polygons and their shades, drawn in this order; shade 0 cuts a hole

SIZES = {True: 60_000, False: 10_000}
FINGERPRINT = "da8a1a7f1fa99521264d5d15a1dba0f3ab6a6c70bd910f3cc344bbba4db57231"
"""sha256 of the training images, training labels, test images and test labels, in this order (uint8 each)."""

SIDE = 28  # pixels of an image's side
CELL = 4  # template cells a pixel, in each direction
MARGIN = 8  # empty cells around a drawing, so that whatever is mapped from outside is background
GRID = SIDE * CELL + 2 * MARGIN
MIDDLE = SIDE * CELL // 2
BLOCK = 1_000  # images drawn at once, each block from its own seed


def mirror(right: Polygon) -> Polygon:
    """The symmetric polygon whose right half is given from top to bottom, x counted from the middle."""
    return [(MIDDLE + x, y) for x, y in right] + [(MIDDLE - x, y) for x, y in reversed(right)]


def box(left: int, top: int, right: int, bottom: int) -> Polygon:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def ellipse(x: int, y: int, rx: int, ry: int) -> Polygon:
    unit = [(16, 0), (15, 6), (11, 11), (6, 15), (0, 16), (-6, 15), (-11, 11), (-15, 6)]
    corners = unit + [(-a, -b) for a, b in unit]
    return [(x + a * rx // 16, y + b * ry // 16) for a, b in corners]


def top(body: int, hem: int, cuff: int, neck: int, depth: int, flare: int = 0) -> Drawing:
    """Anything with a torso: half width, y of hem and of cuffs (0: no sleeves), half width and depth of the neck."""
    shoulder = body + 3
    sleeves = {
        True: [(shoulder + 6 + (cuff - 14) // 5, cuff), (shoulder - 4 + (cuff - 14) // 6, cuff + 3), (body, 42)],
        False: [(shoulder - 4, 24), (body, 40)],
    }[cuff > 0]
    outline = [(neck, 4), (shoulder, 12), *sleeves, (body - 2, 64), (body + flare, hem)]
    return [(mirror(outline), 230), (ellipse(MIDDLE, 4, neck, depth), 0)]


def t_shirt(variant: int) -> Drawing:
    body, cuff, depth = 24 + 2 * (variant % 3), (0, 32, 38, 44, 36, 50)[variant % 6], 6 + 3 * (variant % 4)
    drawing = top(body, 100 + 2 * (variant % 4), cuff, 12 + variant % 5, depth)
    prints = [[], [(box(44, 36, 68, 58), 130)], [(ellipse(56, 48, 14, 12), 255)], [(box(32, 46, 80, 54), 150)]]
    return drawing + prints[variant % 4]


def pullover(variant: int) -> Drawing:
    body, hem = 25 + 2 * (variant % 3), 96 + 3 * (variant % 4)
    drawing = top(body, hem, 84 + 4 * (variant % 4), 10 + variant % 4, 5 + 2 * (variant % 3))
    rib = (box(MIDDLE - body, hem - 8, MIDDLE + body, hem), 195)
    placket = [(box(55, 12, 57, 100), 170)]
    extras = [[], [(ellipse(56, 8, 17, 8), 190), (ellipse(56, 5, 9, 4), 0)], [(box(36, 40, 76, 60), 180)], placket]
    return drawing + [rib] + extras[variant % 4]


def coat(variant: int) -> Drawing:
    body, hem = 26 + 2 * (variant % 3), 104 + 2 * (variant % 4)
    drawing = top(body, hem, 88 + 4 * (variant % 4), 11 + variant % 3, 6, flare=variant % 5)
    opening = (box(54, 10, 56 + variant % 3, hem), 90)
    lapels = (mirror([(2, 40), (13, 6), (17, 24)]), 190)
    pockets = [(box(36, 72, 48, 76), 140), (box(64, 72, 76, 76), 140)]
    belt = [(box(MIDDLE - body, 60, MIDDLE + body, 65), 150)]
    return drawing + ([lapels] if variant % 2 else []) + [opening] + (pockets, belt, [])[variant % 3]


def shirt(variant: int) -> Drawing:
    body, hem = 23 + 2 * (variant % 4), 98 + 3 * (variant % 4)
    cuff = (90, 44, 86, 38, 94, 0)[variant % 6]
    drawing = top(body, hem, cuff, 10 + variant % 4, 6 + 2 * (variant % 3), flare=variant % 3)
    collar = [(mirror([(1, 16), (11, 2), (15, 10)]), 255)]
    placket = [(box(55, 16, 57, hem), 150)]
    buttons = [(box(54, y, 58, y + 3), 80) for y in range(24, hem - 4, 14)]
    pocket = [(box(62, 38, 74, 50), 180)]
    return drawing + [collar + placket, buttons, collar + buttons, placket + pocket, []][variant % 5]


def dress(variant: int) -> Drawing:
    waist, hem = 11 + 2 * (variant % 4), (16, 22, 28, 34)[variant // 2 % 4]
    bust = waist + 4 + variant % 3
    arms = {0: [(bust, 10)], 1: [(bust + 12, 34), (bust + 5, 38)], 2: [(bust + 12, 76), (bust + 6, 78)]}[variant % 3]
    outline = [(8, 4), (bust, 8), *arms, (bust, 32), (waist, 46), (hem, 108)]
    belt = [(box(MIDDLE - waist, 44, MIDDLE + waist, 49), 140)] if variant % 2 else []
    return [(mirror(outline), 225), (ellipse(MIDDLE, 4, 8, 6 + 2 * (variant % 4)), 0), *belt]


def trouser(variant: int) -> Drawing:
    waist, ankle, gap = 16 + 2 * (variant % 4), 17 + 2 * (variant % 5), 2 + variant % 4
    leg = 10 + variant % 4
    hem = (108, 108, 104, 108, 76)[variant % 5]
    outline = [(waist, 4), (waist + 4, 34), (ankle + 3, hem), (ankle + 3 - leg, hem), (gap, 44), (0, 38)]
    return [(mirror(outline), 225), (box(MIDDLE - waist, 4, MIDDLE + waist, 10), 170), (box(55, 10, 57, 36), 150)]


def sandal(variant: int) -> Drawing:
    heel, thick = (0, 12, 22, 32)[variant % 4], 7 + 2 * (variant % 3)
    high = 88 - heel  # y of the foot bed at the heel
    sole = [(3, 88), (42, 87), (72, high + heel // 3), (108, high)]
    sole += [(108, high + thick), (74, high + heel // 3 + thick), (42, 88 + thick), (3, 88 + thick)]
    block: Drawing = [([(90, high), (108, high), (108, 96), (98, 96)], 200)]
    toe: Drawing = [([(8, 88), (22, 64), (44, 58), (48, 88), (38, 88), (36, 68), (26, 72), (18, 88)], 220)]
    cross: Drawing = [([(38, 88), (64, 54), (78, 54), (52, 88)], 200), ([(46, 58), (58, 54), (84, 84), (72, 84)], 225)]
    ankle: Drawing = [([(60, high - 34), (108, high - 40), (108, high - 31), (62, high - 25)], 225)]
    back: Drawing = [([(96, high + 2), (98, high - 44), (108, high - 48), (108, high + 2)], 215)]
    bands = [(box(x, 66 - x // 6, x + 9, 90 - x * heel // 220), 210) for x in (14, 32, 50)]
    straps = [toe + ankle + back, cross + back, toe + cross, bands + ankle + back, cross + ankle + back]
    return [(sole, 240), *block, *straps[variant % 5]]


def sneaker(variant: int) -> Drawing:
    collar, tongue, sole = 46 + 3 * (variant % 4), 40 + 3 * (variant % 5), 6 + 2 * (variant % 3)
    upper = [(4, 82), (8, 72), (34, 64), (58, tongue), (68, tongue - 3), (72, collar + 6), (94, collar + 4)]
    upper += [(102, collar - 4), (108, 72), (108, 86), (4, 86)]
    laces: Drawing = [
        ([(x, 68 - (x - 36) // 2), (x + 8, 60 - (x - 36) // 2), (x + 12, 66), (x + 4, 72)], 130) for x in (38, 48, 58)
    ]
    swoosh: Drawing = [([(50, 76), (94, 58), (80, 76), (58, 82)], 110)]
    heel: Drawing = [(box(96, 56, 108, 84), 150)]
    parts = (laces, swoosh, laces + heel, swoosh + heel)[variant % 4]
    return [(upper, 190), *parts, (box(3, 86 - sole // 2, 109, 86 + sole), 250)]


def ankle_boot(variant: int) -> Drawing:
    shaft, heel = 6 + 6 * (variant % 4), (0, 6, 14, 22)[variant // 2 % 4]
    base = 98 - heel // 3
    upper = [(4, base), (8, base - 12), (34, base - 22), (50, 58), (54, shaft), (100, shaft + variant % 3)]
    upper += [(102, 60), (106, base - heel), (62, base - heel // 3), (46, base)]
    block: Drawing = [([(86, base - heel), (106, base - heel), (106, 104), (92, 104)], 200)]
    sole: Drawing = [
        ([(4, base), (50, base), (64, base - heel // 2), (64, base - heel // 2 + 5), (50, 104), (4, 104)], 160)
    ]
    zipper = [(box(80, shaft + 4, 83, 84), 110)]
    laces = [(box(50, y, 66, y + 3), 110) for y in range(shaft + 14, 72, 9)]
    cuff = [(box(52, shaft, 101, shaft + 8), 160)]
    return [(upper, 220), *block, *sole, *(zipper, laces, cuff, [])[variant % 4]]


def bag(variant: int) -> Drawing:
    half, lid, slope = 38 + 3 * (variant % 4), 40 + 5 * (variant % 5), 8 * (variant % 2)
    handle: Drawing = [
        (ellipse(56, lid + 4, 24 + variant % 8, lid - 8), 190),
        (ellipse(56, lid + 4, 18 + variant % 7, lid - 15), 0),
    ]
    long_strap: Drawing = [(mirror([(4, 4), (half - 4, lid), (half - 10, lid), (0, 11)]), 180)]
    body = (mirror([(half - slope, lid), (half, 102), (half - 4, 106)]), 225)
    flap: Drawing = [(mirror([(half - slope, lid), (half - 4, lid + 26), (8, lid + 34)]), 170)]
    clasp = [(box(51, lid + 22, 61, lid + 30), 255)]
    seam = [(box(MIDDLE - half + 6, lid + 12, MIDDLE + half - 6, lid + 15), 130)]
    carried = ([], handle, long_strap, handle)[variant % 4]
    return [*carried, body, *(flap + clasp, seam, clasp, flap)[variant // 2 % 4]]


DRAWERS: tuple[Callable[[int], Drawing], ...] = (
    t_shirt, trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle_boot,
)  # fmt: skip
VARIANTS = 20  # drawings a class


def inside(polygon: Polygon) -> NDArray[np.bool_]:
    """Which template cells lie in a polygon, by the even-odd rule at the cells' centres; exact, in integers."""
    ticks = 2 * np.arange(GRID, dtype=np.int32) + 1 - 2 * MARGIN
    x, y = ticks[None, :], ticks[:, None]
    mask = np.zeros((GRID, GRID), dtype=bool)
    for (x0, y0), (x1, y1) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if y0 == y1:
            continue
        (x0, y0), (x1, y1) = sorted([(2 * x0, 2 * y0), (2 * x1, 2 * y1)], key=lambda corner: corner[1])
        mask ^= (y0 <= y) & (y < y1) & ((x - x0) * (y1 - y0) < (x1 - x0) * (y - y0))
    return mask


def soften(template: Ints) -> Bytes:
    """The mean over a pixel's worth of cells, so that picking single cells later gives smooth edges."""
    padded = np.pad(template, CELL // 2)[: GRID + CELL - 1, : GRID + CELL - 1]
    views = [padded[dy : dy + GRID, dx : dx + GRID] for dy in range(CELL) for dx in range(CELL)]
    return np.asarray(np.sum(views, axis=0, dtype=np.int32) // CELL**2, dtype=np.uint8)


def render(drawing: Iterable[tuple[Polygon, int]]) -> Bytes:
    template = np.zeros((GRID, GRID), dtype=np.int32)
    for polygon, shade in drawing:
        template[inside(polygon)] = shade
    return soften(template)


@lru_cache(maxsize=1)
def templates() -> Bytes:
    """All drawings, class after class: (10 * VARIANTS, GRID, GRID)."""
    return np.stack([render(draw(variant)) for draw in DRAWERS for variant in range(VARIANTS)])


def fabrics() -> NDArray[np.uint16]:
    """How much each fabric darkens each pixel, 0 to 255: plain, stripes, checks, dots (kinds, 28, 28)."""
    y, x = np.mgrid[:SIDE, :SIDE]
    kinds = [0 * x, (y % 4 < 2), (y % 7 < 3), (x % 4 < 2), (x % 6 < 3), (x % 6 < 3) ^ (y % 6 < 3), (x + y) % 5 < 2]
    kinds += [(x % 3 == 0) & (y % 3 == 0), y >= 14, (y > 9) & (y < 15)]
    return np.stack([255 * kind for kind in kinds]).astype(np.uint16)


def draw_block(labels: Bytes, seed: int) -> Bytes:
    """One image a label, (n, 28, 28): a drawing moved, scaled and sheared, then coloured, worn and partly covered."""
    random, n = np.random.RandomState(seed), len(labels)

    def per_image(low: int, high: int) -> Ints:
        return random.randint(low, high, size=(n, 1, 1), dtype=np.int32)

    drawing = labels.reshape(n, 1, 1).astype(np.int32) * VARIANTS + per_image(0, VARIANTS)
    centre = np.arange(SIDE, dtype=np.int32) - SIDE // 2
    y, x = centre[None, :, None], centre[None, None, :]

    # Where in the template each pixel looks, in 1/256 of a cell.
    row = per_image(840, 1120) * y + per_image(-9 * 256, 9 * 256) + 128 * GRID
    column = per_image(840, 1120) * x + (per_image(-160, 160) * y + per_image(-9 * 256, 9 * 256) + 128 * GRID)
    row, column = np.clip(row >> 8, 0, GRID - 1), np.clip(column >> 8, 0, GRID - 1)
    shade = templates().reshape(-1)[(drawing * GRID + row) * GRID + column].astype(np.uint16)

    fabric = fabrics()[random.randint(0, 10, size=n, dtype=np.int32)]
    worn = np.frombuffer(random.bytes(n * SIDE * SIDE), dtype=np.uint8).reshape(n, SIDE, SIDE).astype(np.uint16)
    tone = 255 - (fabric * per_image(0, 120).astype(np.uint16) >> 8)
    tone = tone * (255 - (worn * per_image(10, 110).astype(np.uint16) >> 8)) >> 8
    shade = shade * tone >> 8
    shade = shade * per_image(150, 256).astype(np.uint16) >> 8

    size = per_image(0, 9)
    covered = (abs(y - per_image(-12, 13)) < size - 3) & (abs(x - per_image(-12, 13)) < size - 3)
    return np.where(covered, 0, shade).astype(np.uint8)


@lru_cache(maxsize=2)
def split(train: bool) -> tuple[Bytes, Bytes]:
    """Images (N, 28, 28) and labels (N,) of a split, N = 60,000 or 10,000 with N / 10 of each class; read-only."""
    size, seed = SIZES[train], 1_000 if train else 2_000
    labels = np.random.RandomState(seed).permutation(np.arange(size) % 10).astype(np.uint8)
    blocks = [draw_block(labels[at : at + BLOCK], seed + 1 + at // BLOCK) for at in range(0, size, BLOCK)]
    images = np.concatenate(blocks)
    images.setflags(write=False)
    labels.setflags(write=False)
    return images, labels
