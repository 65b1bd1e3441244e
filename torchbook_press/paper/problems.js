// What figures say that could not be drawn.
() => [...document.querySelectorAll(".viz-problem")].map((problem) => problem.textContent)
