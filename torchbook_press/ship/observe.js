// What a load costs, as the browser sees it. Runs before anything of the page.
window.speed = { tasks: [], shift: 0, lcp: 0 };
const watch = (type, act) =>
  new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
watch("longtask", (task) => speed.tasks.push([task.startTime, task.duration]));
watch("layout-shift", (shift) => { if (!shift.hadRecentInput) speed.shift += shift.value; });
watch("largest-contentful-paint", (paint) => { speed.lcp = paint.startTime; });
