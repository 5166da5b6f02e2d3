import { setTimeout as pause } from 'node:timers/promises';
import { jsonText } from '../../../shared/input/printable.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { readEvents, type CampaignEvent } from '../../../ledger/events.ts';
import { eventAsJson, describeEvent } from '../../../presentation/words/events.ts';
import { commandOf } from '../terminal/command.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { withCampaign } from '../../../operations/control/control.ts';
import type { Store } from '../../../ledger/tx.ts';

const examples = `
Times are service time. The log is read from the database alone; Temporal, service and worker are not needed. With --json every
event is one line of JSON with its type and ids; otherwise only events that matter to an operator are shown. No line contains a
phone number or what was said.

Examples:
  carillon events reminders
  carillon events reminders --follow            until the campaign has ended, or Ctrl-C
  carillon events reminders --json | jq 'select(.type == "campaign.state")'`;

export const eventsCommand = commandOf<{ follow: boolean }>({
  name: 'events',
  says: 'Show the event log of a campaign',
  argument: ['<campaign>', 'id of the campaign'],
  flags: [['-f, --follow', 'keep showing new events until the campaign has ended', false]],
  json: 'print all events, one JSON object per line',
  help: examples,
  run: showEvents,
});

const everyMs = 1_000;

async function showEvents(io: Io, { follow, json }: { follow: boolean; json: boolean }, campaignId: string): Promise<null> {
  const show = async ({ db }: Store, leave: AbortSignal): Promise<void> => {
    let shown = 0;
    while (!leave.aborted) {
      // Read first, so that events before the end are shown too.
      const campaign = await findCampaign(db, campaignId);
      for (;;) {
        const events = await readEvents(db, campaignId, { afterSeq: shown });
        if (events.length === 0) break;
        io.stdout.write(events.map((event) => (json ? asJson(event) : asText(event))).join(''));
        shown = events.at(-1)?.seq ?? shown;
      }
      if (!follow || campaign === undefined || hasEnded(campaign)) return;
      await pause(everyMs, undefined, { signal: leave }).catch(() => {});
    }
  };
  await withCampaign(io, campaignId, ({ store }) => untilInterrupted(io, ({ signal }) => show(store, signal), { streams: true }));
  return null;
}

function asText(event: CampaignEvent): string {
  const text = describeEvent(event);
  return text === null ? '' : `${new Date(event.at).toISOString()}  ${text}\n`;
}

function asJson(event: CampaignEvent): string {
  return `${jsonText(withInstants(eventAsJson(event)))}\n`;
}
