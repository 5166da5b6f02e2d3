import type { Logger } from '../../logger.ts';
import { pausedByPerson } from '../../domain/lifecycle.ts';
import type { NewEvent } from '../../domain/events.ts';
import { tellEvent } from '../../words/events.ts';

/** Writes what a campaign does as lines of the worker's log: its states with their reasons, batches and verdicts, and its end. */
export function logEvents(logger: Logger, events: readonly NewEvent[]): void {
  for (const event of events) {
    try {
      const line = tellEvent(event);
      if (line === null) continue;
      const { campaignId, batchId, type } = event;
      logger[isTrouble(event) ? 'warn' : 'info'](
        { campaignId, ...(batchId === undefined ? {} : { batchId }), type },
        line,
      );
    } catch (error) {
      // A line of the log is not worth the work that it tells of.
      logger.debug({ type: event.type, error: String(error) }, 'an event could not be told');
    }
  }
}

/** What a person should look at: a campaign that has stopped by itself, a batch without an answer, a hook that was not told. */
function isTrouble({ type, data }: NewEvent): boolean {
  if (type === 'campaign.state')
    return data.to === 'failed' || (data.to === 'paused' && data.reason !== pausedByPerson);
  return type === 'hook.failed' || type === 'caller.out' || (type === 'post.verdict' && data.verdict === 'unknown');
}
