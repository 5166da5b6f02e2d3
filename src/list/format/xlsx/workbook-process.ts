import { ListFileError } from '../../../shared/input/errors.ts';
import type { ListRecord } from '../record.ts';
import type { WorkbookAnswer, WorkbookQuestion } from './workbook-reader.ts';
import { describeWorkbook, readSheetRecords } from './records.ts';

/** Main program of the child process that reads workbooks: a malicious file harms only this process. */
let reading: AsyncGenerator<ListRecord[]> | null = null;

async function answer(question: WorkbookQuestion): Promise<WorkbookAnswer | null> {
  switch (question.ask) {
    case 'describe':
      return { kind: 'description', description: await describeWorkbook(question.path, question.sheet) };
    case 'read':
      reading = readSheetRecords(question.path, question.layout, question.chunkSize);
      return next();
    case 'next':
      return next();
    case 'stop':
      await reading?.return(undefined);
      reading = null;
      return null;
  }
}

async function next(): Promise<WorkbookAnswer> {
  const step = await reading?.next();
  return step === undefined || step.done === true ? { kind: 'end' } : { kind: 'records', records: step.value };
}

function refuse(error: unknown): WorkbookAnswer {
  if (!(error instanceof ListFileError)) throw error;
  return { kind: 'refusal', reason: error.reason };
}

let turn = Promise.resolve();
process.on('message', (question: WorkbookQuestion) => {
  turn = turn.then(async () => {
    const given = await answer(question).catch(refuse);
    if (given !== null) process.send?.(given);
  });
});
process.on('disconnect', () => process.exit());
// Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
