import { createRuns } from './create.ts';
import { quickRuns } from './quick.ts';

export const runs = { ...createRuns, ...quickRuns };
