import { later, start } from './follow.js';
import { sendForms } from './forms.js';
import { listenForToken } from './sign-in.js';
import { setClock, tick, writeTimes } from './times.js';

sendForms();
listenForToken();
document.addEventListener('visibilitychange', later);
writeTimes(document);
setClock();
setInterval(tick, 250);
void start();
