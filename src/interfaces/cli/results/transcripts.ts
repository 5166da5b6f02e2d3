import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFileError, OutputFileError } from '../../../shared/input/errors.ts';
import { writeWholeFile } from '../../../presentation/results/whole-file.ts';
import type { CallService } from '../../../service/port/call-service.ts';
import { ServiceError, RefusedError } from '../../../service/port/errors.ts';
import { readResultConversations, type ResultConversation } from '../../../ledger/read/result-rows.ts';
import type { Io } from '../terminal/io.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import type { OpenCampaign } from '../../../operations/control/control.ts';
import { RowProgress } from '../terminal/answer.ts';
import { withService } from '../../../operations/control/service.ts';
import { renderTranscript } from '../../../presentation/words/history.ts';

const readsAtOnce = 4;
const mostNamed = 20;
/** Stops after this many failures in a row. */
const mostFailuresInRow = 10;

interface Tally {
  written: number;
  present: number;
  /** Open calls, and calls with pending results. */
  unfinished: number;
  missing: string[];
}

/**
 * One text file per finished conversation, from the service's records; existing files stay. Sets exit code 1 and lists those that failed.
 * Throws OutputFileError, ConfigError, and ServiceUnusableError when the service is unusable.
 */
export async function fetchTranscripts(io: Io, { config, store, campaign }: OpenCampaign, folder: string): Promise<void> {
  const tally: Tally = { written: 0, present: 0, unfinished: 0, missing: [] };
  await withService(config, async (service) => {
    await makeFolder(folder);
    await fetchAll(io, service, readResultConversations(store.db, campaign.campaignId), folder, tally);
  });
  printTally(io, tally, folder);
}

async function fetchAll(
  io: Io,
  service: CallService,
  conversations: AsyncGenerator<ResultConversation>,
  folder: string,
  tally: Tally,
): Promise<void> {
  const progress = new RowProgress(io, 'fetched', 'transcripts');
  let failuresInRow = 0;
  let stopped = false;
  const work = async (): Promise<void> => {
    for (;;) {
      const { value: next, done } = await conversations.next();
      if (done === true || stopped) return;
      try {
        await fetchOne(service, next, folder, tally);
        failuresInRow = 0;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const isGone = error instanceof RefusedError && error.status === 404;
        failuresInRow = isGone ? 0 : failuresInRow + 1;
        const isHopeless = error instanceof RefusedError && (error.status === 401 || error.status === 403);
        if (isHopeless || failuresInRow >= mostFailuresInRow) {
          stopped = true;
          throw error;
        }
        tally.missing.push(nameOf(next));
      }
      progress.update(tally.written);
    }
  };
  try {
    await Promise.all(Array.from({ length: readsAtOnce }, work));
  } finally {
    progress.clear();
  }
}

async function fetchOne(service: CallService, conversation: ResultConversation, folder: string, tally: Tally): Promise<void> {
  const path = join(folder, `${nameOf(conversation)}.txt`);
  if (existsSync(path)) tally.present += 1;
  else if (conversation.gone) tally.missing.push(nameOf(conversation));
  else if (!conversation.isComplete) tally.unfinished += 1;
  else {
    const record = await service.record(conversation.conversationId);
    await writeWholeFile(path, [renderTranscript(conversation.row, record)]);
    tally.written += 1;
  }
}

/** The id comes from the service, and must not lead to another folder. */
function nameOf({ row, conversationId }: ResultConversation): string {
  return `${row}-${conversationId.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 150)}`;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new OutputFileError(folder, `the folder was not made: ${describeFileError(error)}`, { cause: error });
  }
}

function printTally(io: Io, { written, present, unfinished, missing }: Tally, folder: string): void {
  const lines = [`${plural(written, 'transcript')} written to ${folder}, ${count(present)} were there already.`];
  if (unfinished > 0) lines.push(`${plural(unfinished, 'call')} not at an end yet: run the command again later for those.`);
  if (missing.length > 0) {
    const named = missing.slice(0, mostNamed).join(', ');
    const rest = missing.length > mostNamed ? `, and ${count(missing.length - mostNamed)} more` : '';
    lines.push(`The service did not give ${plural(missing.length, 'transcript')}: ${named}${rest}.`);
    lines.push('Run the command again to try those once more; it fetches only what is not there.');
  }
  io.stderr.write(`${lines.join('\n')}\n`);
  if (missing.length > 0) io.exitCode = 1;
}
