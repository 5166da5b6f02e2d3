import pc from 'picocolors';
import { tellEvent } from '../../../presentation/words/events.ts';
import type { CampaignEvent } from '../../../ledger/events.ts';
import { campaignTitle, dispositionCounts, outcomeCounts, pauseLines, stateText } from '../../../presentation/words/campaign.ts';
import type { CampaignView, Snapshot } from './watch-campaign.ts';
import type { Io } from '../terminal/io.ts';
import { count, plural, span } from '../../../shared/input/figures.ts';

type ViewIo = Pick<Io, 'isTerminal' | 'colour' | 'now'>;

/** A display that is repainted on a terminal; lines every few seconds, and events at once, elsewhere. */
export function createCampaignView(io: ViewIo, out: NodeJS.WritableStream, hint: string): CampaignView {
  return io.isTerminal ? createLiveView(io, out, hint) : createPlainView(io, out);
}

const plainEveryMs = 5_000;
const barWidth = 24;
const shownEvents = 8;
const fallbackColumns = 80;

function createPlainView(io: ViewIo, out: NodeJS.WritableStream): CampaignView {
  let shownAt = -Infinity;
  let line = '';
  let noticed = '';
  return {
    show(snapshot, notices) {
      for (const text of tellEvents(snapshot.events)) out.write(`  ${text}\n`);
      const notice = notices.join('\n');
      if (notice !== noticed && notice !== '') out.write(`${notice}\n`);
      noticed = notice;
      const now = io.now();
      const next = progressText(snapshot);
      if (now - shownAt < plainEveryMs || next === line) return;
      [shownAt, line] = [now, next];
      out.write(`${next}\n`);
    },
  };
}

function createLiveView(io: ViewIo, out: NodeJS.WritableStream, hint: string): CampaignView {
  const { bold, dim, yellow, green } = pc.createColors(io.colour);
  let painted = 0;
  let recent: string[] = [];
  return {
    show(snapshot, notices) {
      const { campaign, status } = snapshot;
      recent = [...recent, ...tellEvents(snapshot.events)].slice(-shownEvents);
      const outcomeText = outcomeCounts(status);
      const dispositionText = dispositionCounts(status);
      const lines = [
        [bold, `${campaignTitle(campaign)}  ${stateText(campaign)}`],
        [green, bar(status.done, status.total)],
        [plain, progressText(snapshot)],
        ...(outcomeText === '' ? [] : [[plain, `rows   ${outcomeText}`] as const]),
        ...(dispositionText === '' ? [] : [[plain, `calls  ${dispositionText}`] as const]),
        ...recent.map((text) => [dim, `  ${text}`] as const),
        ...[...pauseLines(campaign), ...notices].map((text) => [yellow, text] as const),
        ...(hint === '' ? [] : [[dim, hint] as const]),
      ] as const;
      const columns = (out as { columns?: number }).columns ?? fallbackColumns;
      // A line that wraps would be counted as one and leave a trace.
      const painting = lines.map(([style, text]) => `${style(cut(text, columns - 1))}\n`).join('');
      out.write(`${painted > 0 ? `\u001b[${painted}A` : ''}\u001b[J${painting}`);
      painted = lines.length;
    },
  };
}

const plain = (text: string): string => text;

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.floor(share * barWidth);
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${Math.floor(share * 100)} %`;
}

/** `135 of 300 done, 20 calls open, 18 starts a minute, about 40 s left`. */
export function progressText({ campaign, status, startsPerMinute, leftMs }: Snapshot): string {
  const parts = [`${count(status.done)} of ${count(status.total)} done`, plural(status.open, 'call') + ' open'];
  if (campaign.state === 'running') parts.push(`${count(startsPerMinute)} starts a minute`);
  else parts.push(stateText(campaign));
  if (status.unresolved > 0) parts.push(`${count(status.unresolved)} unresolved`);
  if (leftMs !== null && campaign.state === 'running') parts.push(`about ${span(leftMs)} left`);
  return parts.join(', ');
}

function tellEvents(events: readonly CampaignEvent[]): string[] {
  return events.flatMap((event) => {
    const told = tellEvent(event);
    return told === null ? [] : [`${new Date(event.at).toTimeString().slice(0, 8)}  ${told}`];
  });
}
