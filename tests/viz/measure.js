// What a reader sees of a figure whose drawer is closed; of an open one, what lies in it is passed over.
(place) => {
  const CONTROLS = "button, input, select, textarea, summary";
  const GRIDS = "table, [role=grid], .tbviz-cells"; // pictures however small, as a scalar's one cell
  const PICTURES = `svg, canvas, img, ${GRIDS}`; // of which small ones are signs on controls and in text
  const figure = place.matches(".tbviz") ? place : place.querySelector(".tbviz");
  const stage = figure.querySelector(".tbviz-stage");
  const box = (one) => one.getBoundingClientRect();
  const whole = box(figure);
  const area = ({ width, height }) => width * height;
  const stored = (one) =>
    one.closest(".tbviz-drawer") && !one.matches(".tbviz-drawer > summary, .tbviz-drawer > summary *");
  const boxed = (one) => (getComputedStyle(one).display === "contents" ? boxed(one.parentElement) : one);
  const seen = (one) =>
    !stored(one) &&
    !one.closest("style, script") &&
    one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    area(box(boxed(one))) > 4; // what only a screen reader reads has a pixel

  const controls = [...figure.querySelectorAll(CONTROLS)].filter(seen);
  const pictures = [...figure.querySelectorAll(PICTURES)]
    .filter((one) => seen(one) && !one.closest(`${CONTROLS}, label`) && (one.matches(GRIDS) || area(box(one)) >= 2400))
    .map((one) => box(one).top - whole.top);

  // Of an option that is not chosen nothing is read, and of the chosen one no text is seen by itself.
  const texts = [];
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const around = node.parentElement;
    const option = around.closest("option");
    const read = option ? option.selected && seen(option.closest("select")) : seen(around);
    if (read && node.data.trim()) texts.push([node.data.trim(), around]);
  }
  const words = (some) => some.flatMap(([data]) => data.split(/\s+/)).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  const drawn = ([, around]) => stage.contains(around);

  const scale = (one) => {
    const svg = one.closest("svg");
    const matrix = svg && (one.getScreenCTM ? one : svg).getScreenCTM();
    return matrix ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 1;
  };
  const sizes = texts.map(([data, around]) => [parseFloat(getComputedStyle(around).fontSize) * scale(around), data]);
  const [type, smallest] = sizes.reduce((least, one) => (one[0] < least[0] ? one : least), [Infinity, ""]);

  const title = figure.querySelector(".tbviz-finding");
  return {
    name: figure.ariaLabel ?? "",
    title: title && seen(title) ? title.textContent.trim() : "",
    height: Math.round(whole.height),
    first_picture: Math.round(Math.min(...(pictures.length ? pictures : [box(stage).top - whole.top]))),
    controls: controls.filter((one) => !stage.contains(one)).length,
    in_stage: controls.filter((one) => stage.contains(one)).length,
    words: words(texts.filter((one) => !drawn(one))),
    words_in_stage: words(texts.filter(drawn)),
    share: area(box(stage)) / area(whole),
    type: Math.round(10 * type) / 10,
    smallest: smallest.slice(0, 40),
  };
}
