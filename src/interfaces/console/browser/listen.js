/* A recording beside what was said in it: a line leads to its place, and the line that is heard is marked. */

/** Where the page has a recording. `p` plays it, and lets it rest. */
export function startListening() {
  const recording = document.getElementById('recording');
  if (!(recording instanceof HTMLAudioElement)) return;
  const lines = [...document.querySelectorAll('.talk [data-seconds]')];
  const secondsOf = (/** @type {Element} */ line) => Number(line.getAttribute('data-seconds') || NaN);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#t="]') : null;
    if (link === null) return;
    event.preventDefault();
    recording.currentTime = Number(link.getAttribute('href')?.slice(3));
    void recording.play().catch(() => {});
  });
  recording.addEventListener('timeupdate', () => {
    const heard = lines.findLast((line) => secondsOf(line) <= recording.currentTime);
    for (const line of lines) line.toggleAttribute('aria-current', line === heard);
    heard?.setAttribute('aria-current', 'true');
  });
  document.addEventListener('keydown', ({ key, target, ctrlKey, metaKey, altKey }) => {
    if (key !== 'p' || ctrlKey || metaKey || altKey) return;
    if (target instanceof Element && target.closest('input, textarea, select') !== null) return;
    if (recording.paused) void recording.play().catch(() => {});
    else recording.pause();
  });
}
