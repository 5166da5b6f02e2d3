import { rowRuns } from './rows.ts';
import { steerRuns } from './steer.ts';

/** How operations are carried out, whoever asks for them. */
export const runs = { ...steerRuns, ...rowRuns };
