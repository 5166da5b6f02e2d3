/** An element that is on the page for as long as it is open. */
export function byId(/** @type {string} */ id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`There is no #${id} on the page.`);
  return element;
}

const leastMs = 6000;
const msPerLetter = 60;
/** @type {number | undefined} */
let timer;

/** What worked is shown until it can have been read, or longer while the viewer is at it; what failed, until it is closed. */
export function notify(/** @type {string} */ text, isError = false) {
  const notice = byId('notice');
  clearTimeout(timer);
  notice.classList.toggle('error', isError);
  if (notice.textContent !== text) notice.textContent = text;
  if (isError || text === '') return;
  const goes = () => notify(notice.parentElement?.matches(':hover, :focus-within') ? text : '');
  timer = setTimeout(goes, leastMs + msPerLetter * text.length);
}
document.querySelector('.toast button')?.addEventListener('click', () => notify(''));
