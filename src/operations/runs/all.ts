import { createRuns } from './create.ts';
import { quickRuns } from './quick.ts';

/** How operations are carried out, whoever asks for them. */
export const runs = { ...createRuns, ...quickRuns };
