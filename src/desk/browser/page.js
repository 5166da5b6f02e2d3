import { startDraft } from './draft.js';
import { follow } from './follow.js';
import { setClock, tick, writeTimes } from './times.js';

writeTimes(document);
setClock();
setInterval(tick, 250);
follow();
startDraft();

// A link of `carillon dev` carries its token behind the `#`, which no server and no log sees.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const field = document.getElementById('token');
if (token !== null && field instanceof HTMLInputElement) {
  history.replaceState(null, '', location.pathname + location.search);
  field.value = token;
  field.form?.requestSubmit();
}
