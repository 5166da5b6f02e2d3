import { instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listTokens } from '../../../ledger/console/tokens.ts';
import { draftPath, readDrafts } from '../core/drafts.ts';
import { campaignPath, exampleLine } from '../core/links.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { selectField, textField, type FormState } from './form-fields.ts';
import { readingOf, sampleRows } from './settings.ts';
import { createReadStream } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { withSentForm } from '../core/carry-out.ts';
import { encodingNames, readEncoding } from '../../../shared/input/encoding.ts';
import { ListEncodingError, ListFileError } from '../../../shared/input/errors.ts';
import { readListSample } from '../../../list/sample.ts';
import type { DraftFields, ReceivedList } from './draft-types.ts';

const readingFields = ['list.delimiter', 'list.sheet', 'list.encoding'];

const delimiters = [['', 'Found by itself'], [',', 'Comma'], [';', 'Semicolon'], ['\t', 'Tab'], ['|', 'Vertical bar']] as const; // prettier-ignore

const noForm: FormState = { fields: {}, problems: [] };

/** Upload form and open drafts. `copyOf`: campaign whose settings are copied. */
export async function newCampaignView(
  request: ViewRequest,
  { form = noForm, status = 200, copyOf }: { form?: FormState; status?: number; copyOf: string | undefined },
): Promise<View> {
  const path = copyOf === undefined ? '/new' : `/new?copy=${encodeURIComponent(copyOf)}`;
  const copied = html`<p>
    It begins with the words, hours and retries of <a href="${campaignPath(copyOf ?? '')}">${printable(copyOf ?? '')}</a>, as that was
    started; begin and end are left empty. Whoever asked not to be called is not called by this one either.
  </p>`;
  return {
    title: copyOf === undefined ? 'New campaign' : 'Copy as a new campaign',
    section: 'campaigns',
    status,
    crumbs: [['/', 'Campaigns']],
    body: [
      html`<section class="panel">
        <div class="pad-all stack">${copyOf === undefined ? null : copied} ${uploadForm(path, form, 'Upload')} ${exampleLine(request)}</div>
      </section>`,
      panel('Drafts', await draftsTable(request)),
    ],
  };
}

/** With a script, sends the list as soon as one is chosen. */
export function uploadForm(path: string, form: FormState, button: string): Html {
  const problem = form.problems.find(({ field: at }) => at === 'list')?.message ?? null;
  const most = mostListBytes / 1_000_000;
  return html`<form class="stack upload" method="post" action="${path}" enctype="multipart/form-data">
    <div class="drop" data-most="${mostListBytes}">
      ${icon('upload')}
      <label for="list"><b>Your list, as CSV or as an Excel workbook (.xlsx)</b></label>
      <input
        id="list"
        name="list"
        type="file"
        required
        accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        ${problem === null ? html`aria-describedby="list-hint"` : html`aria-invalid="true" autofocus aria-describedby="list-problem list-hint"`}
      />
      <p class="error" id="list-problem" role="alert">${problem}</p>
      <p class="hint" id="list-hint">
        Choose a file or drop it here. Its first line names the columns; one of them holds the telephone numbers. At most ${most} MB; a
        larger list goes through <code>carillon start</code> or the API.
      </p>
    </div>
    <details ${readingFields.some((name) => form.fields[name]) ? html`open` : null}>
      <summary>If it is not read as it should be</summary>
      <div class="fields">
        ${selectField(form, 'list.delimiter', delimiters, { label: 'What separates the columns (CSV)', hint: null })}
        ${textField(form, 'list.sheet', { label: 'Sheet (Excel)', hint: 'The name on its tab; the first sheet if this is empty.' })}
        ${textField(form, 'list.encoding', {
          label: 'Encoding (CSV)',
          hint: 'Such as windows-1252 or cp850. If it is not certain, you choose by the letters.',
        })}
      </div>
    </details>
    <div class="actions"><button class="btn">${icon('upload')} ${button}</button></div>
  </form>`;
}

async function draftsTable(request: ViewRequest): Promise<HtmlValue> {
  const names = new Map((await listTokens(request.context.store)).map(({ tokenId, name }) => [tokenId, name]));
  return table(
    'Drafts, the one touched last first',
    (await readDrafts(request)).map(({ draftId, name, list, tokenId, touchedReal }) => ({
      key: `draft-${draftId}`,
      cells: {
        Draft: link(draftPath(draftId), printable(name)),
        List: `${printable(list.name)}, ${sizeText(list.bytes)}`,
        'Made by': names.get(tokenId) ?? '–',
        Touched: instant(touchedReal, 'full'),
        '': link(draftPath(draftId, '/discard'), 'Discard…'),
      },
    })),
    html`<p class="soft">There is none. A campaign that you have begun stands here until it is started.</p>`,
  );
}

export function sizeText(bytes: number): string {
  return bytes < 100_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const mostListBytes = 100_000_000;
/** Besides the list, a request has some hundred bytes. */
const mostRequestBytes = mostListBytes + 100_000;

/** Thrown when an uploaded list is unusable; nothing was stored. */
export class ListRefusedError extends Error {
  override readonly name = 'ListRefusedError' as const;
  readonly status: number;
  readonly fields: DraftFields;

  constructor(status: number, message: string, fields: DraftFields = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/**
 * Reads the beginning of the list. Throws ListRefusedError. `more`: settings beside the form; a campaign that stays open may have an empty
 * list.
 */
export async function withReceivedList<Answer>(
  request: FastifyRequest,
  more: Readonly<Record<string, unknown>>,
  work: (list: ReceivedList) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart()) throw new ListRefusedError(415, 'No file was sent: choose your list and send it again.');
  if (Number(request.headers['content-length'] ?? 0) > mostRequestBytes) throw tooLarge();
  let isRead = false;
  const received = withSentForm(request, ['list'], async (sent, { paths: { list: path } }, { list: title = '' }) => {
    isRead = true;
    const fields: DraftFields = Object.fromEntries(
      readingFields.flatMap((field) => (sent.has(field) ? [[field, sent.get(field) ?? '']] : [])),
    );
    if (path === undefined) throw new ListRefusedError(422, 'No file was chosen: choose your list and send it again.', fields);
    const name = plainName(title);
    const refused = (reason: string) => new ListRefusedError(422, `${printable(name)}: ${printable(reason)}.`, fields);
    const written = fields['list.encoding']?.trim() ?? '';
    const encoding = readEncoding(written) ?? undefined;
    if (written !== '' && encoding === undefined) throw refused(`the encoding ${written} is not known; write ${encodingNames}`);
    const reading = { path, ...readingOf(fields), encoding, rows: sampleRows, mayBeEmpty: 'stays_open' in more };
    const read = readListSample(reading).catch(async (error: unknown) => {
      if (!(error instanceof ListEncodingError)) throw error;
      // Shown in the likeliest encoding; the list is used once the user has chosen.
      return { ...(await readListSample({ ...reading, encoding: error.readings[0]?.encoding })), notes: [], readings: error.readings };
    });
    const sample = await read.catch((error: unknown) => {
      throw error instanceof ListFileError ? refused(error.reason) : error;
    });
    const own = { ...fields, 'list.encoding': sample.readings === undefined ? (encoding ?? '') : '' };
    return work({ name, sample, fields: own, content: createReadStream(path) });
  });
  return received.catch((error: unknown) => {
    if (isRead || !(error instanceof ProblemError)) throw error;
    if (error.problem.status === 413) throw tooLarge();
    throw new ListRefusedError(400, 'The upload broke off before its end, and nothing was kept: send the list again.');
  });
}

function tooLarge(): ListRefusedError {
  const most = mostListBytes / 1_000_000;
  return new ListRefusedError(
    413,
    `The list is larger than ${most} MB, and nothing was kept. Start it with carillon start campaign.yaml, or send it to the API (POST /api/v1/campaigns).`,
  );
}

/** A safe file name for the list. */
function plainName(name: string): string {
  const plain = printable(name)
    .replace(/^.*[\\/]/, '')
    .replaceAll(/[:*?"<>|]/g, '-')
    .replace(/^[\s.]+/, '')
    .trim()
    .slice(-100);
  return plain === '' || plain.toLowerCase() === 'campaign.yaml' ? 'list.csv' : plain;
}
