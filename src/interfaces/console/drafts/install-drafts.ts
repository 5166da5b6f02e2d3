import { count } from '../../../shared/input/figures.ts';
import { Readable } from 'node:stream';
import { draftName, draftPath } from '../core/drafts.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api, ApiContext } from '../../api/core/app.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { pageHeaders } from '../../../presentation/html/page-shell.ts';
import { deleteDraft, readDraftList, sweepDrafts } from '../../../ledger/console/drafts.ts';
import { keepRehearsal } from '../../../ledger/console/rehearsals.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { findCampaign, readFileOf } from '../../../ledger/rows/campaigns.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { refuseRole } from '../../../operations/runs/perform.ts';
import { carryOut } from '../core/carry-out.ts';
import { campaignPath } from '../core/links.ts';
import { openCampaign } from '../core/rows.ts';
import { leaveNotification } from '../core/session.ts';
import { type View, type ViewRequest } from '../core/view.ts';
import { beginDraft, chooseEncoding, fixRows, keepDraft, openDraft, replaceList, versionOf } from './settings.ts';
import type { FormState } from './form-fields.ts';
import { campaignYaml, withDraftFiles } from './content.ts';
import { placeholdersOf, renderExample, withPlaceholders } from './words-part.ts';
import { newCampaignView, sizeText, ListRefusedError, withReceivedList } from './upload.ts';
import { draftView, type DraftPageState } from './draft-page.ts';
import { evaluateDraft, partOf, withSent } from './reading.ts';
import { Rehearsals } from './rehearsals.ts';
import { campaignRehearsalView, rehearsalView } from './rehearsal-view.ts';
import { formParts, labelOf, type FormPart } from './parts.ts';
import { html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { OpenDraft } from './draft-types.ts';

const hidden = { config: { role: 'anybody' }, schema: { hide: true } } as const;
const sweepEveryMs = 3_600_000;

export interface DraftConsole {
  app: Api;
  context: ApiContext;
  asked: (request: FastifyRequest) => Promise<ViewRequest>;
  send: (exchange: Exchange, viewed: ViewRequest, view: View) => FastifyReply;
  /** Without the document around it. */
  sendPart: (reply: FastifyReply, markup: string) => FastifyReply;
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Request for a page of drafts. `sent`: form fields; empty for GET. */
interface Visit extends Exchange {
  viewed: ViewRequest;
  sent: URLSearchParams;
}

/** New campaigns, from upload to start. Drafts are in the database: any process can continue them. */
export function installDrafts(inside: Api, console: DraftConsole): void {
  const { app, context, asked: toViewRequest, send } = console;
  const { store } = context;
  sweepAsLongAs(app, context);
  const rehearsals = new Rehearsals(context);
  app.addHook('preClose', async () => rehearsals.close());

  const operating = async (request: FastifyRequest): Promise<ViewRequest> => {
    const viewed = await toViewRequest(request);
    refuseRole(viewed.holder, 'operate');
    return viewed;
  };
  /** `answer`: a view, or a path to redirect to. */
  const at = (method: 'get' | 'post', path: string, answer: (visit: Visit) => Promise<View | string>) =>
    inside[method](path, hidden, async (request, reply) => {
      const viewed = await operating(request);
      const found = await answer({ request, reply, viewed, sent: sentBy(request) });
      return typeof found === 'string' ? reply.headers(pageHeaders).redirect(found, 303) : send({ request, reply }, viewed, found);
    });
  const ofDraft = (method: 'get' | 'post', path: string, answer: (open: OpenDraft, visit: Visit) => Promise<View | string>) =>
    at(method, `/new/:draft${path}`, async (visit) => answer(await openDraft(visit.viewed), visit));

  const show = (viewed: ViewRequest, open: OpenDraft, shown: Omit<DraftPageState, 'rehearsals'> = {}) =>
    draftView(viewed, open, { ...shown, rehearsals });

  const copyOf = async ({ viewed }: Visit): Promise<string | undefined> => {
    const copyId = viewed.query('copy');
    if (copyId === '') return undefined;
    const { campaignId } = await requireCampaign(store, copyId);
    if ((await readFileOf(store.db, campaignId)) !== null) return campaignId;
    throw new ProblemError(409, 'no_campaign_file', `${campaignId} was begun before its file was kept, and cannot be copied.`);
  };
  at('get', '/new', async (visit) => newCampaignView(visit.viewed, { copyOf: await copyOf(visit) }));
  at('post', '/new', async (visit) => {
    const { viewed, request } = visit;
    const copied = await copyOf(visit);
    const more = copied === undefined ? null : await readFileOf(store.db, copied);
    return withReceivedList(request, more ?? {}, async (list) => draftPath((await beginDraft(viewed, list, copied)).draftId)).catch(
      refusedList((form, status) => newCampaignView(viewed, { form, status, copyOf: copied })),
    );
  });
  ofDraft('get', '', (open, { viewed }) => show(viewed, open));
  ofDraft('post', '/list', (open, { viewed, request }) =>
    withReceivedList(request, open.copied?.more ?? {}, async (list) => {
      await replaceList(viewed, open, list);
      return draftPath(open.draft.draftId);
    }).catch(refusedList((form, status) => show(viewed, open, { refusedList: form, status }))),
  );
  /** The page for the script; else a redirect, unless the part has a problem. */
  const saved = async ({ viewed, request }: Visit, part: FormPart): Promise<View | string> => {
    const open = await openDraft(viewed);
    if (request.headers['x-page-part'] !== undefined) return show(viewed, open);
    const { problems } = await evaluateDraft(viewed, open);
    if (problems.some(({ field }) => partOf(field) === part)) return show(viewed, open, { asked: part, status: 422 });
    return draftPath(open.draft.draftId, `#part-${part}`);
  };
  /** Saves nothing. The script keeps the user's changes and takes the stored rest. */
  const stale = (before: OpenDraft, open: OpenDraft, part: FormPart, { viewed, request }: Visit) => {
    const names = [...new Set([...Object.keys(before.fields), ...Object.keys(open.fields)])];
    const differs = names.filter((name) => (before.fields[name] ?? '') !== (open.fields[name] ?? ''));
    const changed = { part, fields: differs.map((name) => [labelOf(name), before.fields[name] ?? ''] as const) };
    const fields = request.headers['x-page-part'] === undefined ? open.fields : before.fields;
    return show(viewed, before, { stale: { fields, changed }, status: 409 });
  };
  for (const part of formParts)
    ofDraft('post', `/${part}`, async (before, visit) => {
      const open = withSent(before, part, visit.sent);
      const version = visit.sent.get('version');
      if (version !== null && version !== versionOf(before, part) && versionOf(open, part) !== versionOf(before, part))
        return stale(before, open, part, visit);
      const agentId = open.fields['agent_id']?.trim() ?? '';
      const isNew = part === 'words' && agentId !== '' && agentId !== before.fields['agent_id'];
      const names = isNew ? Object.keys(await placeholdersOf(visit.viewed, agentId)) : [];
      await keepDraft(visit.viewed, { ...open, fields: withPlaceholders(open, names) });
      return saved(visit, part);
    });
  ofDraft('post', '/fix', async (open, visit) => {
    await fixRows(visit.viewed, open, visit.sent);
    return saved(visit, 'columns');
  });
  ofDraft('post', '/encoding', async (open, { viewed, sent }) => {
    await chooseEncoding(viewed, open, sent.get('encoding') ?? '');
    return draftPath(open.draft.draftId, '#part-columns');
  });
  ofDraft('post', '/plain', async (open, { viewed }) => {
    await keepDraft(viewed, { ...open, copied: undefined });
    return draftPath(open.draft.draftId);
  });
  inside.post('/new/:draft/example', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const open = withSent(await openDraft(viewed), 'words', sentBy(request));
    return console.sendPart(reply, (await renderExample(await evaluateDraft(viewed, open), viewed.now)).text);
  });

  ofDraft('get', '/rehearsal', async (open) => rehearsalView(open, await rehearsals.of({ draftId: open.draft.draftId })));
  ofDraft('post', '/rehearsal', async (open, { viewed, sent }) => {
    const { draftId } = open.draft;
    if (sent.get('stop') === 'yes') rehearsals.stop(draftId);
    else if ((await evaluateDraft(viewed, open)).problems.length > 0) return show(viewed, open, { asked: 'all', status: 422 });
    else if (!(await rehearsals.begin(open)))
      throw new ProblemError(409, 'rehearsing', 'Another draft is being rehearsed. Begin this one when it has ended.');
    return draftPath(draftId, '/rehearsal');
  });
  inside.get('/campaigns/:campaign/rehearsal', hidden, async (request, reply) => {
    const viewed = await toViewRequest(request);
    const { campaign, campaignId } = await openCampaign(viewed);
    return send({ request, reply }, viewed, campaignRehearsalView(campaign, await rehearsals.of({ campaignId })));
  });
  at('post', '/new/:draft/start', async ({ viewed, request, reply, sent }) => {
    const open = await openDraft(viewed).catch(async (error: unknown) => {
      const id = sent.get('campaign') ?? '';
      if ((await findCampaign(store.db, id)) === undefined) throw error;
      leaveNotification(request, reply, 'The draft is not here any more; this campaign has its id.');
      return campaignPath(id);
    });
    if (typeof open === 'string') return open;
    if ((await evaluateDraft(viewed, open)).problems.length > 0) return show(viewed, open, { asked: 'all', status: 422 });
    const carried = await withDraftFiles(store, open, ({ sent: files }) =>
      carryOut(context, request, 'createCampaign', {
        query: { allow_partial: String(sent.get('allow_partial') === 'yes') },
        files,
        key: sent.get('key') ?? '',
      }),
    );
    if (carried.refused !== null) return show(viewed, open, { asked: 'all', refused: carried.refused, status: carried.status });
    const { campaignId, rowsTotal } = carried.answer as { campaignId: string; rowsTotal: number };
    await keepRehearsal(store, open.draft.draftId, campaignId);
    await deleteDraft(store, open.draft.draftId);
    leaveNotification(request, reply, `${campaignId} is started with ${count(rowsTotal)} rows.`);
    return campaignPath(campaignId);
  });
  inside.get('/new/:draft/campaign.yaml', hidden, async (request, reply) => {
    const open = await openDraft(await operating(request));
    return reply
      .headers({ ...pageHeaders, 'content-disposition': 'attachment; filename="campaign.yaml"' })
      .type('application/yaml; charset=utf-8')
      .serializer(String)
      .send(campaignYaml(open));
  });
  inside.get('/new/:draft/list-file', hidden, async (request, reply) => {
    const { list } = (await openDraft(await operating(request))).draft;
    return reply
      .headers({ ...pageHeaders, 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(list.name)}` })
      .type('application/octet-stream')
      .send(Readable.from(readDraftList(store, list)));
  });
  ofDraft('get', '/discard', async (open) => discardView(open));
  ofDraft('post', '/discard', async ({ draft }, { request, reply }) => {
    rehearsals.stop(draft.draftId);
    await deleteDraft(store, draft.draftId);
    leaveNotification(request, reply, 'The draft is discarded, and its list is deleted.');
    return '/new';
  });
}

/** Shows the upload form again with the refusal. Throws every other error. */
function refusedList(show: (form: FormState, status: number) => Promise<View> | View) {
  return (error: unknown) => {
    if (!(error instanceof ListRefusedError)) throw error;
    return show({ fields: error.fields, problems: [{ field: 'list', message: error.message }] }, error.status);
  };
}

function sentBy({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

/** Deletes expired drafts at start, and hourly. */
function sweepAsLongAs(app: Api, context: ApiContext): void {
  const sweep = () =>
    sweepDrafts(context.store, context.now()).catch((error: unknown) => {
      context.logger.warn({ code: codeOf(error) }, 'forgotten drafts were not deleted');
    });
  const timer = setInterval(() => void sweep(), sweepEveryMs);
  timer.unref();
  app.addHook('onReady', async () => sweep());
  app.addHook('preClose', async () => clearInterval(timer));
}

function discardView({ draft, fields }: OpenDraft): View {
  const back = draftPath(draft.draftId);
  return {
    title: 'Discard this draft?',
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign'], [back, printable(draftName(fields, draft.list.name))]], // prettier-ignore
    body: html`<section class="panel pad-all stack narrow">
      <p>
        The draft ${printable(fields['id'] ?? '')} and its list ${printable(draft.list.name)} (${sizeText(draft.list.bytes)}) are deleted.
        Nobody was called. This cannot be undone.
      </p>
      <form class="act" method="post">
        <p class="actions">
          <button class="btn primary danger">Discard the draft</button>
          <a class="btn bare" href="${back}">Keep it</a>
        </p>
      </form>
    </section>`,
  };
}
