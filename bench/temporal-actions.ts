import type { Client, WorkflowHandle } from '@temporalio/client';

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

export interface TemporalCost {
  /** Billable actions by kind. */
  actions: Record<'starts' | 'activities' | 'heartbeats' | 'timers' | 'messages', number>;
  activitiesByType: Record<string, number>;
  /** Events of each run, continued runs in their order. */
  eventsPerRun: number[];
}

/** The worker's core sends a heartbeat at once, and from then on holds them back for this share of the timeout. */
const heartbeatShare = 0.8;

function millis(time: HistoryEvent['eventTime']): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

function durationMs(duration: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(duration?.seconds ?? 0) * 1000 + (duration?.nanos ?? 0) / 1e6;
}

/**
 * Adds up what a run's history shows: starts, activity attempts, heartbeats (estimated, they leave no event), timers, messages. Those of
 * submits are one for each request, which the caller adds.
 */
function addRun(cost: TemporalCost, events: readonly HistoryEvent[]): void {
  const scheduled = new Map<string, { type: string; heartbeatMs: number }>();
  const started = new Map<string, { at: number; attempts: number }>();
  for (const event of events) {
    const id = String(event.eventId);
    const schedule = event.activityTaskScheduledEventAttributes;
    const start = event.activityTaskStartedEventAttributes;
    const close =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (event.workflowExecutionStartedEventAttributes != null) cost.actions.starts += 1;
    else if (event.timerStartedEventAttributes != null) cost.actions.timers += 1;
    else if (event.workflowExecutionSignaledEventAttributes != null || event.workflowExecutionUpdateAcceptedEventAttributes != null) {
      cost.actions.messages += 1;
    } else if (schedule != null) {
      scheduled.set(id, {
        type: schedule.activityType?.name ?? '',
        heartbeatMs: durationMs(schedule.heartbeatTimeout),
      });
    } else if (start != null) {
      const attempts = start.attempt ?? 1;
      const { type = '' } = scheduled.get(String(start.scheduledEventId)) ?? {};
      cost.actions.activities += attempts;
      cost.activitiesByType[type] = (cost.activitiesByType[type] ?? 0) + attempts;
      started.set(String(start.scheduledEventId), { at: millis(event.eventTime), attempts });
    } else if (close != null) {
      const key = String(close.scheduledEventId);
      const [activity, run] = [scheduled.get(key), started.get(key)];
      if (activity === undefined || run === undefined || activity.heartbeatMs === 0 || activity.type === 'submit') continue;
      const ranMs = millis(event.eventTime) - run.at;
      cost.actions.heartbeats += run.attempts + Math.floor(ranMs / (heartbeatShare * activity.heartbeatMs));
    }
  }
  cost.eventsPerRun.push(events.length);
}

/** Reads the histories of a workflow from its run `firstRunId` on, through every continued-as-new one. */
export async function readTemporalCost(client: Client, workflowId: string, firstRunId: string): Promise<TemporalCost> {
  const cost: TemporalCost = {
    actions: { starts: 0, activities: 0, heartbeats: 0, timers: 0, messages: 0 },
    activitiesByType: {},
    eventsPerRun: [],
  };
  for (let runId: string | null = firstRunId; runId !== null;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    addRun(cost, events ?? []);
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? null;
  }
  return cost;
}
