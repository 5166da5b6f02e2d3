import type { ConsoleAction } from '../core/action.ts';
import { createAccess, revokeAccess } from './access.ts';
import { addPerson } from './add-person.ts';
import { cancelRowCallback, setRowCallback } from './callbacks.ts';
import { addNumbers, removeNumbers, suppressRow, importNumbers } from './do-not-call.ts';
import { fixRejected } from './fix-rows.ts';
import { changeAccountLimits, changeHouseRules, changeLimits } from './limits.ts';
import { editSchedule, newSchedule } from './make-schedule.ts';
import { scheduleActions } from './schedules.ts';
import { resolveAllRows, resolveRow } from './resolve.ts';
import { retryRows } from './retry.ts';
import { recoverCampaign, startExample, steerActions } from './steer.ts';
import { updateList } from './update-list.ts';
import { addWebhook, webhookActions } from './webhooks.ts';
import { withdrawRow } from './withdraw-row.ts';

export const actions: readonly ConsoleAction[] = [
  ...steerActions,
  recoverCampaign,
  startExample,
  changeLimits,
  changeAccountLimits,
  changeHouseRules,
  suppressRow,
  addPerson,
  withdrawRow,
  setRowCallback,
  cancelRowCallback,
  resolveRow,
  resolveAllRows,
  addNumbers,
  importNumbers,
  removeNumbers,
  retryRows,
  fixRejected,
  updateList,
  newSchedule,
  editSchedule,
  ...scheduleActions,
  addWebhook,
  ...webhookActions,
  createAccess,
  revokeAccess,
];
