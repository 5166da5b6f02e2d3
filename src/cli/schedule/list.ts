import { listSchedules } from '../../ledger/campaign/schedules.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer, writeJson } from '../terminal/json-output.ts';
import { count, span } from '../../input/figures.ts';
import { printable } from '../../input/printable.ts';
import { notInTemporal, requireSchedule, withSchedules } from './access.ts';
import { inZone, nextTimes, readScheduleView, type LastFiring, type ScheduleView } from './view.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';

const columns: readonly Column<ScheduleView>[] = [
  { title: 'CAMPAIGN', value: (view) => view.campaignId },
  { title: 'STATE', value: (view) => view.state },
  { title: 'WHEN', value: (view) => view.when ?? '' },
  { title: 'ZONE', value: (view) => view.timeZone ?? '' },
  { title: 'NEXT', value: (view) => nextTimes(view, 1) },
  { title: 'LAST RUN', value: (view) => view.last?.campaignId ?? 'none yet' },
  { title: 'RESULT', value: (view) => tellResult(view.last), flexible: true },
];

export async function listAllSchedules(io: Io, flags: { json: boolean }): Promise<void> {
  await withSchedules(io, async (session) => {
    const views: ScheduleView[] = [];
    for (const schedule of await listSchedules(session.store.db)) views.push(await readScheduleView(session, schedule));
    if (flags.json) {
      writeJson(io, { schedules: views });
      return;
    }
    if (views.length === 0) {
      io.stderr.write('There is no schedule yet: carillon schedule create <campaign.yaml> makes one.\n');
      return;
    }
    io.stdout.write(renderTable(columns, views, terminalWidth(io)));
    for (const { campaignId, file: filePath } of views.filter(({ state }) => state === 'missing'))
      io.stderr.write(`${notInTemporal(session, { campaignId, filePath })}\n`);
  });
}

export async function describeOneSchedule(io: Io, campaignId: string, flags: { json: boolean }): Promise<void> {
  await withSchedules(io, async (session) => {
    const view = await readScheduleView(session, await requireSchedule(session, campaignId));
    writeAnswer(io, flags.json, { data: view, words: `${describeView(view).join('\n')}\n` });
  });
}

function describeView(view: ScheduleView): string[] {
  const line = (label: string, text: string | null): string[] =>
    text === null || text === '' ? [] : [`${label.padEnd(10)}${printable(text)}`];
  const left = [
    ...(view.skipped === 0 ? [] : [`${count(view.skipped)} skipped, because the campaign before was still running`]),
    ...(view.missed === 0 ? [] : [`${count(view.missed)} missed, because Temporal was down`]),
  ];
  return [
    ...line('Campaign', view.campaignId),
    ...line('Schedule', view.scheduleId),
    ...line('State', view.note === null ? view.state : `${view.state}: ${view.note}`),
    ...line('When', view.when === null ? null : `${view.when} (${view.timeZone})`),
    ...line('From', inZone(view.startAt, view.timeZone)),
    ...line('Until', inZone(view.endAt, view.timeZone)),
    ...line('Catch-up', view.catchUpSeconds === null ? null : span(view.catchUpSeconds * 1000)),
    ...line('File', view.file),
    ...line('List', view.list),
    ...line('Next', nextTimes(view, 5)),
    ...line('Runs', [count(view.fired), ...left].join('; ')),
    ...line('Last', view.last === null ? 'none yet' : `${view.last.campaignId}: ${tellResult(view.last)}`),
  ];
}

function tellResult(last: LastFiring | null): string {
  if (last === null) return '';
  return last.reason === null ? last.result : `${last.result}: ${last.reason}`;
}
