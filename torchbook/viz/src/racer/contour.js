/** Contour lines by marching squares, in units of the picture: 0 to 1 from left to right and from top to bottom. */

const COLUMNS = 150;
const ROWS = 100;

/** The losses on a grid of the picture, row by row from the top. */
export function heights({ loss, view: [left, right, bottom, top] }, columns = COLUMNS, rows = ROWS) {
  return Array.from({ length: rows + 1 }, (_, j) =>
    Array.from({ length: columns + 1 }, (_, i) => loss(left + ((right - left) * i) / columns, top - ((top - bottom) * j) / rows)),
  );
}

/** The losses whose lines are drawn, from low to high. */
export const levels = ({ lowest, levels: [first, factor, count] }) => Array.from({ length: count }, (_, k) => lowest + first * factor ** k);

/** Segments [x1, y1, x2, y2] of the line at `level`. */
export function segments(grid, level) {
  const found = [];
  const [rows, columns] = [grid.length - 1, grid[0].length - 1];
  for (let j = 0; j < rows; j += 1) {
    for (let i = 0; i < columns; i += 1) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const ends = [];
      corners.forEach(([x, y], k) => {
        const [u, v] = corners[(k + 1) % 4];
        const [a, b] = [grid[y][x] - level, grid[v][u] - level];
        if (a < 0 === b < 0) return;
        const t = a / (a - b);
        ends.push([(x + t * (u - x)) / columns, (y + t * (v - y)) / rows]);
      });
      for (let k = 0; k + 1 < ends.length; k += 2) found.push([...ends[k], ...ends[k + 1]]);
    }
  }
  return found;
}
