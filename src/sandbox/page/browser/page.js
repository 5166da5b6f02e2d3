import { sendForms } from './forms.js';
import { start } from './live.js';
import { listenForToken } from './sign-in.js';
import { setClock, tick, writeTimes } from './times.js';

sendForms();
listenForToken();
writeTimes(document);
setClock();
setInterval(tick, 250);
void start();
