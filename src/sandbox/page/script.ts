import { followScript } from './script-follow.ts';
import { morphScript } from './script-morph.ts';
import { requestScript } from './script-requests.ts';
import { timeScript } from './script-times.ts';

/** The one script of the page, in parts that share their names. Plain text, so that it needs no build of its own. */
export const script = ["'use strict';", timeScript, morphScript, requestScript, followScript].join('\n');
