import type { OperationId } from '../list.ts';
import type { z } from 'zod';
import type { Read, Shape } from '../shape.ts';
import { callShapes } from './calls.ts';
import { campaignShapes } from './campaign.ts';
import { createShapes } from './create.ts';
import { doubtShapes } from './doubt.ts';
import { eventShapes } from './events.ts';
import { handOnShapes } from './exports.ts';
import { rowShapes } from './rows.ts';
import { scheduleShapes } from './schedules.ts';
import { steerShapes } from './steer.ts';
import { suppressionShapes } from './suppressions.ts';
import { webhookShapes } from './webhooks.ts';

/** What each operation takes and answers. */
export const shapes = {
  ...campaignShapes,
  ...createShapes,
  ...steerShapes,
  ...rowShapes,
  ...callShapes,
  ...doubtShapes,
  ...handOnShapes,
  ...eventShapes,
  ...suppressionShapes,
  ...scheduleShapes,
  ...webhookShapes,
} satisfies Record<OperationId, Shape>;

/** What an operation takes, as its schemas have read it: parameters of the path by name, `query` and `body`. */
export type Taken<Id extends OperationId> = (Read<(typeof shapes)[Id], 'params'> extends infer Params extends object ? Params : unknown) & {
  query: Read<(typeof shapes)[Id], 'query'>;
  body: Read<(typeof shapes)[Id], 'body'>;
};

/** What an operation answers, before it is written; unknown of a download. */
export type Answer<Id extends OperationId> = (typeof shapes)[Id] extends { answer: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : unknown;
