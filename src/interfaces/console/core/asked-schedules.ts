import { setTimeout as delay } from 'node:timers/promises';
import type { ApiContext } from '../../api/core/app.ts';
import { listSchedules } from '../../../operations/control/schedules/schedules.ts';
import type { ScheduleView } from '../../../operations/control/schedules/view.ts';

const connectLimitMs = 1_500;
const answerLimitMs = 2_500;

/** The schedules with what Temporal knows of them, or why that is not known now. */
type AskedSchedules = { views: ScheduleView[]; why: null } | { views: null; why: string };

/**
 * Asks Temporal for all schedules and waits for at most 2.5 s: a page that says what it does not know is better than none. Asked anew each
 * time, so that whoever has paused one sees it paused.
 */
export async function askSchedules(context: ApiContext): Promise<AskedSchedules> {
  const late = delay(answerLimitMs, null, { ref: false });
  try {
    const views = await Promise.race([readViews(context, Date.now() + answerLimitMs), late]);
    if (views !== null) return { views, why: null };
    return { views, why: `Temporal has not answered within ${answerLimitMs / 1000} s.` };
  } catch (error) {
    context.logger.warn({ name: (error as Error).name }, 'Temporal could not be asked for the schedules');
    const isForeseen = typeof (error as { isBadInput?: unknown }).isBadInput === 'boolean';
    return { views: null, why: isForeseen ? (error as Error).message : 'Temporal does not answer.' };
  }
}

async function readViews(context: ApiContext, deadline: number): Promise<ScheduleView[]> {
  const { connection } = await context.temporal(connectLimitMs);
  return connection.withDeadline(deadline, () => listSchedules(context));
}
