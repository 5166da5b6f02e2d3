import { count, facts, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listDrafts } from '../../../ledger/console/drafts.ts';
import { listTokens } from '../../../ledger/console/tokens.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { choice, textField, type FormState, sampleTable } from './form-fields.ts';
import { isTheirs, type OpenDraft, type DraftFields } from './settings.ts';
import { stepPath, stepView } from './steps.ts';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../api/core/problem.ts';
import { keepFile, readParts } from '../../api/core/uploads.ts';
import { ListFileError } from '../../../shared/input/errors.ts';
import { readListSample, type ListSample } from '../../../list/sample.ts';

const noForm: FormState = { fields: {}, problems: [] };

/** Where a new campaign begins, and the drafts that are open. */
export async function newCampaignView(request: ViewRequest, form: FormState = noForm, status = 200): Promise<View> {
  return {
    title: 'New campaign',
    section: 'campaigns',
    status,
    crumbs: [['/', 'Campaigns']],
    body: [panel('Begin with the list', uploadForm('/new', form, 'Upload and go on')), panel('Drafts', await draftsTable(request))],
  };
}

/** The list of a draft: what it begins with, and the way to send another one. */
export function listStep(open: OpenDraft, form: FormState = noForm, status = 200): View {
  const { draft, sample } = open;
  const path = stepPath(draft.draftId, 'list');
  return stepView(
    open,
    'list',
    [
      panel('The list', [
        facts([
          ['File', printable(draft.list.name)],
          ['Size', sizeText(draft.list.bytes)],
          ['Columns', count(sample.columns.length, 'column')],
          ['How it was read', sample.notes.map((note) => `${printable(note)}.`).join(' ')],
        ]),
        sampleTable(open),
        html`<p class="actions">
          <a class="btn" href="${stepPath(draft.draftId, 'columns')}">Go on: columns</a>
        </p>`,
      ]),
      panel('Send another list instead', uploadForm(path, { ...form, fields: { ...open.fields, ...form.fields } }, 'Replace the list')),
    ],
    status,
  ); // prettier-ignore
}

function uploadForm(path: string, form: FormState, button: string): Html {
  const problem = form.problems.find(({ field }) => field === 'list')?.message ?? null;
  const most = mostListBytes / 1_000_000;
  return html`<form class="act upload" method="post" action="${path}" enctype="multipart/form-data">
    <div class="entry drop" data-most="${mostListBytes}">
      <label for="list">Your list, as CSV or as an Excel workbook (.xlsx)</label>
      <input
        id="list"
        name="list"
        type="file"
        required
        accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        ${problem === null ? html`aria-describedby="list-hint"` : html`aria-invalid="true" aria-describedby="list-problem list-hint"`}
      />
      <p class="hint" id="list-hint">
        Choose a file or drop it here. Its first line names the columns; one of them holds the telephone numbers. At most ${most} MB; a
        larger list goes through <code>carillon start</code> or the API.
      </p>
      <p class="entry-problem" id="list-problem" role="alert">${problem}</p>
    </div>
    <details ${form.fields['list.delimiter'] || form.fields['list.sheet'] ? html`open` : null}>
      <summary>If it is not read as it should be</summary>
      <div class="entry-row">
        ${choice(form, {
          name: 'list.delimiter',
          label: 'What separates the columns (CSV)',
          options: [
            ['', 'Found by itself'],
            [',', 'Comma'],
            [';', 'Semicolon'],
            ['\t', 'Tab'],
            ['|', 'Vertical bar'],
          ],
        })}
        ${textField(form, {
          name: 'list.sheet',
          label: 'Sheet (Excel)',
          hint: 'The name on its tab; the first sheet if this is empty.',
        })}
      </div>
    </details>
    <p class="actions"><button class="btn">${button}</button></p>
  </form>`;
}

async function draftsTable(request: ViewRequest): Promise<HtmlValue> {
  const { context, holder } = request;
  const drafts = (await listDrafts(context.store, context.now())).filter((draft) => isTheirs(draft, holder));
  const names = new Map((await listTokens(context.store)).map(({ tokenId, name }) => [tokenId, name]));
  return table(
    'Drafts, the one touched last first',
    drafts.map(({ draftId, list, tokenId, touchedReal, settings }) => {
      const { fields } = JSON.parse(settings) as Pick<OpenDraft, 'fields'>;
      const path = `/new/${encodeURIComponent(draftId)}`;
      return {
        key: `draft-${draftId}`,
        cells: {
          Draft: link(path, printable(fields['id'] || list.name)),
          List: `${printable(list.name)}, ${sizeText(list.bytes)}`,
          'Made by': names.get(tokenId) ?? '–',
          Touched: instant(touchedReal, 'full'),
          '': link(`${path}/discard`, 'Discard'),
        },
      };
    }),
    html`<p class="soft">There is none. A campaign that you have begun stands here until it is started.</p>`,
  );
}

/** Such as `0.4 MB`. */
export function sizeText(bytes: number): string {
  return bytes < 100_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The largest list that the page takes. */
const mostListBytes = 100_000_000;
/** Beside the list, a request holds some hundred bytes. */
const mostRequestBytes = mostListBytes + 100_000;
const sampleRows = 50;

/** Thrown when what was sent is no list that can be used; nothing of it was kept. */
export class ListRefusedError extends Error {
  override readonly name = 'ListRefusedError' as const;
  readonly status: number;
  /** What was chosen beside the list. */
  readonly fields: DraftFields;

  constructor(status: number, message: string, fields: DraftFields = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** A list that was received, in a file that is gone after the work. */
export interface ReceivedList {
  name: string;
  sample: ListSample;
  fields: DraftFields;
  /** Its bytes, once. */
  content: AsyncIterable<Buffer>;
}

/** Receives the list of an upload form and reads what it begins with. Throws ListRefusedError. */
export async function withReceivedList<Answer>(request: FastifyRequest, work: (list: ReceivedList) => Promise<Answer>): Promise<Answer> {
  if (!request.isMultipart()) throw new ListRefusedError(415, 'No file was sent: choose your list and send it again.');
  if (Number(request.headers['content-length'] ?? 0) > mostRequestBytes) throw tooLarge();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-draft-'));
  try {
    const { name, fields, path } = await receive(request, folder);
    const reading = { delimiter: fields['list.delimiter'] || undefined, sheet: fields['list.sheet'] || undefined };
    const sample = await readListSample({ path, ...reading, rows: sampleRows }).catch((error: unknown) => {
      if (!(error instanceof ListFileError)) throw error;
      throw new ListRefusedError(422, `${printable(name)}: ${printable(error.reason)}.`, fields);
    });
    return await work({ name, sample, fields, content: createReadStream(path) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function receive(request: FastifyRequest, folder: string): Promise<{ name: string; fields: DraftFields; path: string }> {
  const path = join(folder, 'list');
  const fields: Record<string, string> = {};
  let name: string | null = null;
  try {
    const limits = { fileSize: mostListBytes, files: 1, fields: 4, fieldSize: 1000 };
    for await (const part of readParts(request, limits)) {
      if (part.type === 'field') {
        if (['list.delimiter', 'list.sheet'].includes(part.fieldname)) fields[part.fieldname] = String(part.value);
        continue;
      }
      await keepFile(part, path);
      // Without a file chosen, a browser sends one without a name.
      name = part.filename || null;
    }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    if (error.problem.status === 413) throw tooLarge();
    throw new ListRefusedError(400, 'The upload broke off before its end, and nothing was kept: send the list again.');
  }
  if (name === null) throw new ListRefusedError(422, 'No file was chosen: choose your list and send it again.', fields);
  return { name: plainName(name), fields, path };
}

function tooLarge(): ListRefusedError {
  const most = mostListBytes / 1_000_000;
  return new ListRefusedError(
    413,
    `The list is larger than ${most} MB, and nothing was kept. Start it with carillon start campaign.yaml, or send it to the API (POST /api/v1/campaigns).`,
  );
}

/** A name that a campaign file may give to the list beside it. */
function plainName(name: string): string {
  const plain = printable(name)
    .replace(/^.*[\\/]/, '')
    .replaceAll(/[:*?"<>|]/g, '-')
    .replace(/^[\s.]+/, '')
    .trim()
    .slice(-100);
  return plain === '' || plain.toLowerCase() === 'campaign.yaml' ? 'list.csv' : plain;
}
