import type { ConsoleAction } from '../core/action.ts';
import { addNumbers, removeNumbers } from './do-not-call.ts';
import { importNumbers } from './import-numbers.ts';
import { changeLimits } from './limits.ts';
import { newSchedule } from './new-schedule.ts';
import { resolveAllRows } from './resolve-all.ts';
import { resolveRow } from './resolve-row.ts';
import { retryRows } from './retry.ts';
import { scheduleActions } from './schedules.ts';
import { recoverCampaign, steerActions } from './steer.ts';
import { suppressRow } from './suppress-row.ts';
import { updateList } from './update-list.ts';
import { addWebhook, webhookActions } from './webhooks.ts';
import { withdrawRow } from './withdraw-row.ts';

/** Everything that can be done from the page, and carries a form. */
export const actions: readonly ConsoleAction[] = [
  ...steerActions,
  recoverCampaign,
  changeLimits,
  suppressRow,
  withdrawRow,
  resolveRow,
  resolveAllRows,
  addNumbers,
  importNumbers,
  removeNumbers,
  retryRows,
  updateList,
  newSchedule,
  ...scheduleActions,
  addWebhook,
  ...webhookActions,
];
