import { verifyLog, type LogReport } from '../../../verify/log.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { RowProgress } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';
import { withControl } from '../../../operations/control/control.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { openService, serviceList } from '../../../operations/control/service.ts';

const examples = `
Checks the append-only event log against rules of its own, then tables and results against the log, then the service's lists of
conversations and batches if they can be read: nobody was called twice, outside hours, after an opt-out, or beyond caps and budgets, and every row
has one outcome. Names every line that breaks a promise, and then ends with exit code 1. Changes nothing.

Examples:
  carillon verify reminders
  carillon verify --offline         without contacting the service
  carillon verify --json            all campaigns of the database`;

export const verifyCommand = commandOf<{ offline: boolean }, string | undefined>({
  name: 'verify',
  says: 'Prove from log, tables and service that every promise was kept',
  argument: ['[campaign]', 'id of the campaign (default: all)'],
  flags: [['--offline', 'do not contact the service', false]],
  json: 'print the report as JSON',
  help: examples,
  run: (io, { offline }, campaign) =>
    withControl(io, async ({ config, store }) => {
      const campaignId = campaign ?? null;
      if (campaignId !== null) await requireCampaign(store, campaignId);
      const service = offline || config.SVC_API_KEY === undefined ? null : await openService(config);
      const progress = new RowProgress(io, 'of the log read');
      try {
        const report = await verifyLog(store.db, campaignId, {
          onProgress: (events) => progress.update(events),
          ...(service === null ? {} : { service: serviceList(config, service) }),
        }).finally(() => progress.clear());
        if (!report.ok) io.exitCode = 1;
        return { data: withInstants(report), words: formatReport(report) };
      } finally {
        await service?.close();
      }
    }),
});

const mostShown = 10;

/** One line per guarantee, with its violations below. */
export function formatReport({ ok, events, calls, campaigns, rules, notes }: LogReport): string {
  const lines = rules.flatMap(({ promise, violations }) => [
    `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${promise}${violations.length === 0 ? '' : `: ${plural(violations.length, 'violation')}`}`,
    ...violations.slice(0, mostShown).map(({ campaignId, seq, at, what }) => {
      const place = seq === null ? '' : ` (event ${seq}, ${new Date(at ?? 0).toISOString()})`;
      return `        ${campaignId}: ${what}${place}`;
    }),
    ...(violations.length > mostShown ? [`        and ${count(violations.length - mostShown)} more: --json has all`] : []),
  ]);
  const counts = `${count(events)} events of ${plural(campaigns.length, 'campaign')} with ${plural(calls, 'call')}`;
  return `${[`verify: ${ok ? 'every promise was kept' : 'VIOLATIONS'} (${counts})`, ...lines, ...notes.map((note) => `note  ${note}`)].join('\n')}\n`;
}
