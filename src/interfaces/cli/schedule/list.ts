import { connected, withControl } from '../../../operations/control/control.ts';
import { notInTemporal } from '../../../operations/control/schedules/access.ts';
import type { LastFiring, ScheduleView } from '../../../operations/control/schedules/view.ts';
import { describeSchedule, listSchedules } from '../../../operations/control/schedules/schedules.ts';
import { count, span } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer, writeJson } from '../terminal/json-output.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';
import { inZone, nextTimes } from '../../../presentation/words/schedule-times.ts';

const columns: readonly Column<ScheduleView>[] = [
  { title: 'CAMPAIGN', value: (view) => view.campaignId },
  { title: 'STATE', value: (view) => view.state },
  { title: 'WHEN', value: (view) => view.when ?? '' },
  { title: 'ZONE', value: (view) => view.timeZone ?? '' },
  { title: 'NEXT', value: (view) => nextTimes(view, 1) },
  { title: 'LAST RUN', value: (view) => view.last?.campaignId ?? 'none yet' },
  { title: 'RESULT', value: (view) => tellResult(view.last), flexible: true },
];

/** `carillon schedule list`. */
export async function runList(io: Io, flags: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const views = await listSchedules(control);
    if (flags.json) {
      writeJson(io, { schedules: views });
      return;
    }
    if (views.length === 0) {
      io.stderr.write('There is no schedule yet: carillon schedule create <campaign.yaml> makes one.\n');
      return;
    }
    io.stdout.write(renderTable(columns, views, terminalWidth(io)));
    const missing = views.filter(({ state }) => state === 'missing');
    if (missing.length === 0) return;
    const session = await connected(control);
    for (const { campaignId, file: filePath } of missing) io.stderr.write(`${notInTemporal(session, { campaignId, filePath })}\n`);
  });
}

/** `carillon schedule describe`. */
export async function runDescribe(io: Io, campaignId: string, flags: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const view = await describeSchedule(control, campaignId);
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
