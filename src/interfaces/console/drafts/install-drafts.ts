import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api, ApiContext } from '../../api/core/app.ts';
import { ProblemError } from '../../api/core/problem.ts';
import { pageHeaders } from '../../../presentation/html/page-shell.ts';
import { deleteDraft, sweepDrafts } from '../../../ledger/console/drafts.ts';
import { keepRehearsal } from '../../../ledger/console/rehearsals.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { apiCall } from '../core/action.ts';
import { callApi, refusalOf } from '../core/call-api.ts';
import { campaignPath } from '../core/links.ts';
import { openCampaign } from '../core/rows.ts';
import { leaveNotice } from '../core/session.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { beginDraft, replaceList, keepDraft, openDraft, type OpenDraft } from './settings.ts';
import type { FormState } from './form-fields.ts';
import { callsStep } from './calls-step.ts';
import { checkStep } from './check-step.ts';
import { columnsStep } from './columns-step.ts';
import { campaignYaml, withDraftFiles } from './content.ts';
import { renderExample, wordsStep } from './words-step.ts';
import { listStep, newCampaignView, sizeText, ListRefusedError, withReceivedList } from './list-step.ts';
import { problemsOfStep, type FieldProblem, problemsOfSent, withSent } from './reading.ts';
import { Rehearsals } from './rehearsals.ts';
import { campaignRehearsalView, rehearsalPath, rehearsalView } from './rehearsal-view.ts';
import { formSteps, stepPath, steps, type FormStep } from './steps.ts';
import { html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';

const hidden = { config: { role: 'anybody' }, schema: { hide: true } } as const;
const sweepEveryMs = 3_600_000;

/** How the page asks and answers, whatever is asked for. */
export interface DraftConsole {
  app: Api;
  context: ApiContext;
  asked: (request: FastifyRequest) => Promise<ViewRequest>;
  send: (exchange: Exchange, viewed: ViewRequest, view: View) => FastifyReply;
  /** As it stands, without the document around it. */
  sendPart: (reply: FastifyReply, markup: string) => FastifyReply;
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** One visit to a page of drafts. `sent`: the fields of a form; nothing where none was sent. */
interface Visit extends Exchange {
  viewed: ViewRequest;
  sent: URLSearchParams;
}

/** New campaigns, from the upload of a list to the start. Drafts lie in the database: any process that serves it goes on with them. */
export function installDrafts(inside: Api, console: DraftConsole): void {
  const { app, context, asked, send } = console;
  const { store } = context;
  sweepAsLongAs(app, context);
  const rehearsals = new Rehearsals(context);
  app.addHook('preClose', async () => rehearsals.close());

  const operating = async (request: FastifyRequest): Promise<ViewRequest> => {
    const viewed = await asked(request);
    if (may(viewed, 'operate')) return viewed;
    const { name, role } = viewed.holder;
    throw new ProblemError(403, 'role', `This takes the role operate; the token of ${name} has ${role}.`);
  };
  /** `answer`: a view, or the path to go on at. */
  const at = (method: 'get' | 'post', path: string, answer: (visit: Visit) => Promise<View | string>) =>
    inside[method](path, hidden, async (request, reply) => {
      const viewed = await operating(request);
      const found = await answer({ request, reply, viewed, sent: sentBy(request) });
      return typeof found === 'string' ? reply.headers(pageHeaders).redirect(found, 303) : send({ request, reply }, viewed, found);
    });
  const ofDraft = (method: 'get' | 'post', path: string, answer: (open: OpenDraft, visit: Visit) => Promise<View | string>) =>
    at(method, `/new/:draft${path}`, async (visit) => answer(await openDraft(visit.viewed), visit));

  at('get', '/new', ({ viewed }) => newCampaignView(viewed));
  at('post', '/new', ({ viewed, request }) =>
    withReceivedList(request, async (list) => stepPath((await beginDraft(viewed, list)).draftId, 'columns')).catch(
      refusedList((form, status) => newCampaignView(viewed, form, status)),
    ),
  );
  ofDraft('get', '', async ({ draft, done }) => stepPath(draft.draftId, formSteps.find((step) => !done.includes(step)) ?? 'check'));
  ofDraft('get', '/list', async (open) => listStep(open));
  ofDraft('post', '/list', (open, { viewed, request }) =>
    withReceivedList(request, async (list) => {
      await replaceList(viewed, open, list);
      return stepPath(open.draft.draftId, 'columns');
    }).catch(refusedList((form, status) => listStep(open, form, status))),
  );
  for (const step of formSteps) {
    ofDraft('get', `/${step}`, async (open, { viewed }) => {
      const problems = open.done.includes(step) ? await problemsOfStep(open, step, viewed.now) : [];
      return showStep(viewed, open, { step, problems });
    });
    ofDraft('post', `/${step}`, async (before, { viewed, sent }) => {
      const open = withSent(before, step, sent);
      const problems = await problemsOfSent(viewed, open, step);
      if (problems.length > 0) return showStep(viewed, { ...open, done: before.done }, { step, problems, status: 422 });
      await keepDraft(viewed, open);
      return stepPath(open.draft.draftId, steps[steps.findIndex(({ name }) => name === step) + 1]?.name ?? 'check');
    });
  }
  inside.post('/new/:draft/example', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const open = withSent(await openDraft(viewed), 'words', sentBy(request));
    if (request.headers['x-page-part'] === undefined)
      return send({ request, reply }, viewed, await showStep(viewed, open, { step: 'words', problems: [] }));
    return console.sendPart(reply, (await renderExample(open, viewed.now)).text);
  });

  ofDraft('get', '/check', (open, { viewed }) => checkStep(viewed, open, { rehearsals }));
  ofDraft('get', '/rehearsal', async (open) => rehearsalView(open, await rehearsals.of({ draftId: open.draft.draftId })));
  ofDraft('post', '/rehearsal', async (open, { sent }) => {
    const { draftId } = open.draft;
    if (sent.get('stop') === 'yes') rehearsals.stop(draftId);
    else if (!(await rehearsals.begin(open)))
      throw new ProblemError(409, 'rehearsing', 'Another draft is being rehearsed. Begin this one when it has ended.');
    return rehearsalPath(draftId);
  });
  inside.get('/campaigns/:campaign/rehearsal', hidden, async (request, reply) => {
    const viewed = await asked(request);
    const { campaign, campaignId } = await openCampaign(viewed);
    return send({ request, reply }, viewed, campaignRehearsalView(campaign, await rehearsals.of({ campaignId })));
  });
  at('post', '/new/:draft/check', async ({ viewed, request, reply, sent }) => {
    const open = await openDraft(viewed).catch(async (error: unknown) => {
      const id = sent.get('campaign') ?? '';
      if ((await findCampaign(store.db, id)) === undefined) throw error;
      leaveNotice(request, reply, 'The draft is not here any more; this campaign has its id.');
      return campaignPath(id);
    });
    if (typeof open === 'string') return open;
    const called = await withDraftFiles(store, open, async ({ asForm }) =>
      callApi(app, request, {
        ...apiCall('createCampaign', {}, { allow_partial: String(sent.get('allow_partial') === 'yes') }),
        body: await asForm(),
        key: sent.get('key') ?? '',
      }),
    );
    if (called.status >= 400) return checkStep(viewed, open, { refused: refusalOf(called), status: called.status, rehearsals });
    const { campaignId, rowsTotal } = called.body as { campaignId: string; rowsTotal: number };
    await keepRehearsal(store, open.draft.draftId, campaignId);
    await deleteDraft(store, open.draft.draftId);
    leaveNotice(request, reply, `${campaignId} is started with ${rowsTotal.toLocaleString('en')} rows.`);
    return campaignPath(campaignId);
  });
  inside.get('/new/:draft/campaign.yaml', hidden, async (request, reply) => {
    const { draft, fields } = await openDraft(await operating(request));
    return reply
      .headers({ ...pageHeaders, 'content-disposition': 'attachment; filename="campaign.yaml"' })
      .type('application/yaml; charset=utf-8')
      .serializer(String)
      .send(campaignYaml(fields, draft.list.name));
  });
  ofDraft('get', '/discard', async (open) => discardView(open));
  ofDraft('post', '/discard', async ({ draft }, { request, reply }) => {
    rehearsals.stop(draft.draftId);
    await deleteDraft(store, draft.draftId);
    leaveNotice(request, reply, 'The draft is discarded, and its list is deleted.');
    return '/new';
  });
}

/** Shows the form of an upload again with why its list was refused. Throws every other error. */
function refusedList(show: (form: FormState, status: number) => Promise<View> | View) {
  return (error: unknown) => {
    if (!(error instanceof ListRefusedError)) throw error;
    return show({ fields: error.fields, problems: [{ field: 'list', message: error.message }] }, error.status);
  };
}

function showStep(
  viewed: ViewRequest,
  open: OpenDraft,
  { step, problems, status = 200 }: { step: FormStep; problems: FieldProblem[]; status?: number },
): Promise<View> | View {
  if (step === 'columns') return columnsStep(open, problems, status);
  if (step === 'words') return wordsStep(open, { problems, now: viewed.now, status });
  return callsStep(viewed, open, problems, status);
}

/** What a form has sent; nothing where it was none. */
function sentBy({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

/** Forgotten drafts go when the server begins, and hourly from then on. */
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

/** Asks whether a draft is to be deleted. */
function discardView({ draft, fields }: OpenDraft): View {
  return {
    title: 'Discard this draft?',
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign']], // prettier-ignore
    body: html`<section class="panel">
      <p>
        The draft ${printable(fields['id'] ?? '')} and its list ${printable(draft.list.name)} (${sizeText(draft.list.bytes)}) are deleted.
        Nobody was called. This cannot be undone.
      </p>
      <form class="act" method="post">
        <p class="actions">
          <button class="btn danger">Discard the draft</button>
          <a href="${stepPath(draft.draftId, 'list')}">Back, change nothing</a>
        </p>
      </form>
    </section>`,
  };
}
