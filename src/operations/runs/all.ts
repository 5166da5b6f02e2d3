import { rowRuns } from './rows.ts';
import { scheduleRuns } from './schedules.ts';
import { steerRuns } from './steer.ts';
import { suppressionRuns } from './suppressions.ts';
import { webhookRuns } from './webhooks.ts';

/** How operations are carried out, whoever asks for them. */
export const runs = { ...steerRuns, ...rowRuns, ...suppressionRuns, ...scheduleRuns, ...webhookRuns };
