import type { ConsoleAction } from '../core/action.ts';
import { accessActions } from './access.ts';
import { doNotCallActions } from './do-not-call.ts';
import { limitActions } from './limits.ts';
import { listActions } from './list.ts';
import { personActions } from './people.ts';
import { rowActions } from './rows.ts';
import { scheduleActions } from './schedules.ts';
import { steerActions } from './steer.ts';
import { webhookActions } from './webhooks.ts';

export const actions: readonly ConsoleAction[] = [
  ...steerActions,
  ...limitActions,
  ...personActions,
  ...rowActions,
  ...doNotCallActions,
  ...listActions,
  ...scheduleActions,
  ...webhookActions,
  ...accessActions,
];
