import type { Control } from '../../../operations/control/control.ts';
import { openService, readServiceTime, serviceList } from '../../../operations/control/service.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { generator, renderHtmlReport } from '../../../presentation/report/html-report.ts';
import { readReportData, type ReportData } from '../../../presentation/report/report-data.ts';
import { refuseOtherFile, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress } from '../terminal/answer.ts';

interface ReportOptions {
  path: string;
  people: boolean;
  json: boolean;
}

/** Replaces an earlier report, but no other file. Throws OutputFileError and ReportTooLargeError. */
export async function writeReportFile(
  io: Io,
  control: Control,
  campaigns: readonly Campaign[],
  { path, people, json }: ReportOptions,
): Promise<void> {
  if (path !== '-')
    await refuseOtherFile(path, { what: 'report', isEarlier: (begin) => begin.slice(0, 2_000).includes(`content="${generator}"`) });
  const data = await readData(io, control, campaigns, people);
  const html = renderHtmlReport(data);
  const violations = data.proof?.found ?? 0;
  if (violations > 0) io.stderr.write(`carillon verify finds ${violations} violations; the report names them.\n`);
  if (path === '-') {
    io.stdout.write(html);
    return;
  }
  await writeWholeFile(path, [html]);
  const bytes = Buffer.byteLength(html);
  io.stderr.write(`Report written to ${path} (${Math.ceil(bytes / 1000)} KB).\n`);
  const campaignIds = campaigns.map(({ campaignId }) => campaignId);
  if (json) io.stdout.write(`${jsonText({ campaignIds, path, bytes, people, violations })}\n`);
}

async function readData(io: Io, control: Control, campaigns: readonly Campaign[], people: boolean): Promise<ReportData> {
  const { config, store } = control;
  const service = config.SVC_API_KEY === undefined ? null : await openService(config);
  const progress = new RowProgress(io, 'of the log read');
  const onProgress = (events: number): void => progress.update(events);
  const verify = service === null ? { onProgress } : { onProgress, service: serviceList(config, service) };
  try {
    const now = await readServiceTime(control);
    return await readReportData(store, { campaigns, now, people, verify });
  } finally {
    progress.clear();
    await service?.close();
  }
}
