import { figure, instant, link, muted, table, type Row } from '../../html/elements.ts';
import type { HtmlValue } from '../../html/html.ts';
import type { CampaignEvent } from '../../ledger/events.ts';
import { tellStory } from '../../words/story.ts';
import { rowPath } from '../core/links.ts';

/** Lines of the log, newest first, without any number or text of a person. */
export function eventTable(caption: string, events: readonly CampaignEvent[], whenEmpty: HtmlValue): HtmlValue {
  return table(caption, events.map(lineOf), whenEmpty);
}

function lineOf(event: CampaignEvent): Row {
  const row = rowOf(event);
  const told = tellStory(event);
  const cells = {
    'What happened': told === event.type ? muted(event.type.replaceAll('.', ': ').replaceAll('_', ' ')) : told,
    When: instant(event.at, 'full'),
    Row: row === null ? '–' : link(rowPath(event.campaignId, row), figure(row)),
  };
  return { key: `event-${event.seq}`, cells };
}

/** A recipient's id ends with its row, an attempt's with row and number. */
function rowOf({ campaignId, recipientId, attemptId }: CampaignEvent): number | null {
  const id = recipientId ?? attemptId;
  return id === undefined ? null : Number(id.slice(campaignId.length + 1).split('/')[0]);
}
