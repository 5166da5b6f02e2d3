/* A recording beside what was said in it: a line leads to its place, and the line that is heard is marked. */

function recordingHere() {
  const recording = document.getElementById('recording');
  return recording instanceof HTMLAudioElement ? recording : null;
}

/** Where the page has a recording. */
export function startListening() {
  const recording = recordingHere();
  if (recording === null) return;
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
    for (const line of lines) line.removeAttribute('aria-current');
    heard?.setAttribute('aria-current', 'true');
  });
}

/** Plays the recording of the page, or lets it rest. */
export function playOrRest() {
  const recording = recordingHere();
  if (recording?.paused) void recording.play().catch(() => {});
  else recording?.pause();
}
