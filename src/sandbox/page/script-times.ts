/** Times in the viewer's zone, and clocks that go on between two looks at the service. */
export const timeScript = String.raw`
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const clockTime = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const writers = {
  time: new Intl.DateTimeFormat(undefined, clockTime),
  full: new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', ...clockTime }),
};

function writeTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const instant = new Date(time.dateTime);
    time.textContent = writers[time.dataset.show].format(instant);
    time.title = time.dateTime + ' (' + zone + ')';
  }
  const place = root.querySelector('#clock-zone');
  if (place !== null) place.textContent = zone.replaceAll('_', ' ');
}

function writeDuration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? minutes + ':' + two(seconds % 60)
    : Math.floor(minutes / 60) + ':' + two(minutes % 60) + ':' + two(seconds % 60);
}

let anchor = null;

/** Takes the service's clock as it was told. */
function setClock() {
  const clock = document.getElementById('clock');
  anchor = clock === null
    ? null
    : { now: Number(clock.dataset.now), speed: Number(clock.dataset.speed), at: performance.now() };
}

function serviceNow() {
  return anchor.now + (performance.now() - anchor.at) * anchor.speed;
}

function tick() {
  if (anchor === null || anchor.speed === 0) return;
  const now = serviceNow();
  const shown = document.querySelector('#clock-now time');
  if (shown !== null) shown.textContent = writers.full.format(new Date(now));
  for (const span of document.querySelectorAll('[data-since]'))
    span.textContent = writeDuration(now - Number(span.dataset.since));
}
`;
