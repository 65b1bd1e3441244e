// The race of the first page: its first steps as the page opens, all of it once the reader has said who will be first.
(() => {
  const OPENING = 450; // ms that one of the first steps takes
  const TURNING = 600; // ms, as in site.css
  const CLOSELY = 60; // steps that are seen one by one
  const [SLOW, FAST] = [16, 60]; // steps in a second, up to there and from there on

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const pointsOf = (path) => path.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ").map(Number));

  function wayOf(group, label) {
    const [begun, rest] = group.querySelectorAll(".race-line");
    return {
      label,
      settles: Number(group.dataset.settles),
      points: [...pointsOf(begun), ...pointsOf(rest).slice(1)],
      line: begun,
      mark: group.querySelector(".race-mark.begun"),
    };
  }

  // Where a racer has been up to a moment between two steps.
  function passed(points, at) {
    const [done, part] = [Math.floor(at), at % 1];
    const way = points.slice(0, done + 1);
    if (!part || done + 1 >= points.length) return way;
    const [from, to] = [points[done], points[done + 1]];
    return [...way, from.map((value, axis) => value + part * (to[axis] - value))];
  }

  function draw({ ways }, at) {
    for (const { points, line, mark } of ways) {
      const way = passed(points, at);
      line.setAttribute("d", `M${way.map((point) => point.join(" ")).join("L")}`);
      mark.setAttribute("transform", `translate(${way.at(-1).join(" ")}) scale(2)`);
    }
  }

  // The moment of a race, `ms` after its start.
  const moment = (ms) => {
    const closely = (ms / 1000) * SLOW;
    return closely < CLOSELY ? closely : CLOSELY + (ms / 1000 - CLOSELY / SLOW) * FAST;
  };

  function start(race) {
    const map = race.querySelector(".race-map");
    const fieldset = race.querySelector("fieldset");
    const labels = [...fieldset.querySelectorAll("label")];
    const names = labels.map((label) => label.querySelector(".race-name").textContent);
    const fields = [...map.querySelectorAll(".race-field")].map((group) => {
      const ways = [...group.children].map((way, number) => wayOf(way, names[number]));
      return { ways, end: Math.max(...ways.map(({ settles }) => settles)) };
    });
    const [again, turn] = map.querySelectorAll("button");
    const count = map.querySelector(".race-count");
    const said = map.querySelector(".race-said");
    const opening = pointsOf(map.querySelector(".race-line.begun")).length - 1;
    let [frame, field, answered, told] = [0, fields[0], false, undefined];

    function show(at) {
      draw(field, at);
      count.textContent = `Step ${Math.floor(at)}`;
      const first = Math.min(...field.ways.map(({ settles }) => settles));
      for (const [number, { settles }] of field.ways.entries()) {
        const arrival = labels[number].querySelector(".race-arrival");
        arrival.textContent = answered && at >= settles ? `step ${settles}` : "";
        arrival.toggleAttribute("data-first", settles === first);
      }
    }

    function play(end, momentOf, then) {
      cancelAnimationFrame(frame);
      let begun;
      const next = (now) => {
        const at = Math.min(end, momentOf(now - (begun ??= now)));
        show(at);
        if (at < end) frame = requestAnimationFrame(next);
        else then?.();
      };
      if (still()) {
        show(end);
        then?.();
      } else frame = requestAnimationFrame(next);
    }

    function finish() {
      const order = [...field.ways].sort((one, other) => one.settles - other.settles);
      said.textContent = `In the ring to stay: ${order.map(({ label, settles }) => `${label} after step ${settles}`).join(", ")}.`;
      turn.hidden = false;
      delete race.dataset.racing;
      told?.();
      told = undefined;
    }

    const open = () => play(opening, (ms) => ms / OPENING);
    const run = (wait = 0) => play(field.end, (ms) => moment(Math.max(0, ms - wait)), finish);

    fieldset.addEventListener("predicted", (event) => {
      const before = answered;
      answered = true;
      if (before && !told) return; // it has been seen: the answer is told at once
      event.preventDefault();
      told = event.detail;
      if (before) return;
      fieldset.querySelector("details").open = true; // what it takes moves the page now, when the reader expects it
      race.dataset.racing = "";
      run();
    });
    again.addEventListener("click", () => (answered ? run() : open()));
    turn.addEventListener("click", () => {
      const now = turn.getAttribute("aria-pressed") !== "true";
      turn.setAttribute("aria-pressed", String(now));
      race.toggleAttribute("data-turned", now);
      field = fields[Number(now)];
      show(0);
      run(TURNING);
    });

    race.dataset.live = "";
    if (fieldset.querySelector("input:checked")) {
      answered = true;
      show(field.end);
      finish();
    } else open();
  }

  document.querySelectorAll(".race").forEach(start);
})();
