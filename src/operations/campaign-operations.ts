import { ask, change, download, read, under } from './operation.ts';

export const campaignOperations = {
  ...under('campaigns', {
    listCampaigns: read('GET /api/v1/campaigns', 'read', 'List all campaigns, newest first'),
    createCampaign: change(
      'POST /api/v1/campaigns',
      'operate',
      'Import a campaign and start it',
      'As carillon start: refuses what that refuses, and attaches to a campaign that the database has from the same file and list.',
    ),
    startExample: change(
      'POST /api/v1/example',
      'operate',
      'Start the example campaign on the sandbox of this server',
      'Only where the server runs with its own sandbox, as in carillon dev: 300 made-up people, and no real phone rings.',
    ),
    showCampaign: read('GET /api/v1/campaigns/:campaign', 'read', 'Show the state of a campaign, and why no call is placed now'),
    readCampaignFile: read(
      'GET /api/v1/campaigns/:campaign/file',
      'operate',
      'Read what the file of a campaign says, to begin another one with it',
      'As it was started: limits, hours and retries that were changed since are not in it. Comments were not kept. Null for campaigns that an ' +
        'earlier version began.',
    ),
    checkCampaign: ask('POST /api/v1/campaigns/check', 'read', 'Check a campaign and its list without placing a call; changes nothing'),
    pauseCampaign: change(
      'POST /api/v1/campaigns/:campaign/pause',
      'operate',
      'Place no further calls; open ones are still collected',
      'Holds when it is answered: Temporal, worker and service may be down.',
    ),
    resumeCampaign: change(
      'POST /api/v1/campaigns/:campaign/resume',
      'operate',
      'Continue a paused campaign',
      'If it paused by itself, mend what its reason names first, or it pauses again.',
    ),
    drainCampaign: change(
      'POST /api/v1/campaigns/:campaign/drain',
      'operate',
      'Finish open calls, call no waiting recipients, and complete the campaign',
      'Waiting rows end as cancelled. This cannot be undone.',
    ),
    cancelCampaign: change(
      'POST /api/v1/campaigns/:campaign/cancel',
      'operate',
      'End a campaign; waiting recipients are not called',
      'Open calls are still collected. This cannot be undone.',
    ),
    adjustCampaign: change('POST /api/v1/campaigns/:campaign/adjust', 'operate', 'Change the limits of a campaign from its next batch on'),
    showAccountLimits: read(
      'GET /api/v1/limits',
      'read',
      'Show what all campaigns may use together at the service, and what each uses now',
    ),
    adjustAccountLimits: change(
      'POST /api/v1/limits',
      'admin',
      'Change what all campaigns may use together at the service, from the next batch on',
      'Open calls continue. As carillon adjust --account.',
    ),
    showHouseRules: read('GET /api/v1/house-rules', 'read', 'Show the house rules, to which all campaigns are held besides their own'),
    setHouseRules: change(
      'POST /api/v1/house-rules',
      'admin',
      'Set the house rules for all campaigns, planned calls included',
      'As carillon rules set: the stricter of house and campaign file binds. Campaigns under way that lack what is required pause.',
    ),
    recoverCampaign: change(
      'POST /api/v1/campaigns/:campaign/recover',
      'operate',
      'Restart a campaign from the database after Temporal has lost its data',
      'Nothing is sent again. The conversations of the service are read first: if it knows calls that the database does not, ' +
        'nothing is started.',
    ),
  }),

  ...under('rows', {
    listRows: read('GET /api/v1/campaigns/:campaign/rows', 'read', 'List or search the rows of a campaign, in file order'),
    searchPeople: ask(
      'POST /api/v1/search',
      'read',
      'Search the people of all campaigns by ID, row, number or any cell of their list',
      'The newest campaign comes first; numbers are masked. With the role read, only whole IDs and rows are found. It is a POST so that a ' +
        'number or a name stands in no address and no log.',
    ),
    showStory: read(
      'GET /api/v1/campaigns/:campaign/rows/:row/story',
      'read',
      'Show every decision about the number of a row, and when it may be called next',
    ),
    downloadEvidence: download(
      'GET /api/v1/campaigns/:campaign/rows/:row/evidence.zip',
      'operate',
      'Download what is known of the calls to the number of a row, signed, for whoever has to answer for them',
      'It holds nothing of anybody else, and the log says who has asked for it.',
    ),
    showTranscript: read(
      'GET /api/v1/campaigns/:campaign/rows/:row/calls/:call/transcript',
      'operate',
      'Read what was said in a call that has ended',
      'It is read from the service, and the log says who has read it.',
    ),
    downloadRecording: download(
      'GET /api/v1/campaigns/:campaign/rows/:row/calls/:call/recording',
      'operate',
      'Download the recording of a call that has ended',
      'It is fetched from where the service keeps it, in parts where a `range` asks for them and the service has them. ' +
        'The log says who has fetched it, once in 15 minutes.',
    ),
    updateList: change(
      'POST /api/v1/campaigns/:campaign/update',
      'operate',
      'Add and correct rows of a campaign that has not ended',
      'Rows are matched by the id column. Rows that fail leave those of the campaign as they were.',
    ),
    addRows: change(
      'POST /api/v1/campaigns/:campaign/rows',
      'operate',
      'Add up to 500 rows to a campaign that has not ended',
      'Each row is accepted, known by its id already, or refused; what is answered is durable, and what is refused is as if it had not been ' +
        'sent. Too many at once: 429, and nothing of the request was done.',
    ),
    fixRows: change(
      'POST /api/v1/campaigns/:campaign/fix',
      'operate',
      'Correct rejected rows and put them in line',
      'Other rows are left as they are. The rules are those the campaign was started with. If it has ended, the next round is started.',
    ),
    withdrawRows: change(
      'POST /api/v1/campaigns/:campaign/withdraw',
      'operate',
      'Remove waiting rows from a campaign',
      'Planned and open calls continue, and rows with an outcome keep it.',
    ),
    retryRows: change(
      'POST /api/v1/campaigns/:campaign/retry',
      'operate',
      'Call rows of an ended campaign again in a new round',
      'Unresolved rows may have been called already: they are then called twice.',
    ),
    listCallbacks: read(
      'GET /api/v1/campaigns/:campaign/callbacks',
      'operate',
      'List promises to call people back, the next one first',
      'What people said about the time is shown, so this takes the role operate.',
    ),
    setCallback: change(
      'POST /api/v1/campaigns/:campaign/rows/:row/callback',
      'operate',
      'Promise to call a row back, or move the promise',
      'Also after the row has its outcome, as long as the campaign runs. Hours, law, caps and the do-not-call list hold.',
    ),
    cancelCallback: change(
      'DELETE /api/v1/campaigns/:campaign/rows/:row/callback',
      'operate',
      'Cancel the promise to call a row back',
      'If the person was talked to, the row ends; otherwise it is called as before.',
    ),
    listDoubtful: read(
      'GET /api/v1/campaigns/:campaign/doubtful',
      'operate',
      'List unresolved rows with the records that may be theirs',
      'Opening lines of records are shown, so this takes the role operate. Numbers are masked.',
    ),
    resolveRow: change(
      'POST /api/v1/campaigns/:campaign/rows/:row/resolve',
      'operate',
      'Decide about one row in doubt',
      'A record is theirs or not theirs; or the row is dialled again, perhaps a second time, or left as it is.',
    ),
    resolveAll: change(
      'POST /api/v1/campaigns/:campaign/resolve',
      'operate',
      'Decide about all unresolved rows together',
      'With redial: if a lost batch was carried out after all, its recipients are called twice; no record can rule this out.',
    ),
  }),

  ...under('insight', {
    showWaiting: read('GET /api/v1/campaigns/:campaign/waiting', 'read', 'Count waiting rows by the rule that keeps them'),
    showFunnel: read('GET /api/v1/campaigns/:campaign/funnel', 'read', 'Count how many rows came how far'),
    showCourse: read('GET /api/v1/campaigns/:campaign/course', 'read', 'Show calls, limits and pauses over time'),
    showReport: read(
      'GET /api/v1/campaigns/:campaign/report',
      'read',
      'Count rows and calls by outcome, disposition, attempt, time, zone, caller and collected value',
      'As carillon report --json prints it, funnel and course included.',
    ),
    downloadReport: download(
      'GET /api/v1/campaigns/:campaign/report.html',
      'read',
      'Download the report as one HTML file with charts and proof, as carillon report --html writes it',
      'The judge reads the log, and asks the service nothing. With people, which takes the role operate and is written to the log, ' +
        'it holds the first rows of each list with their numbers.',
    ),
    listResults: read(
      'GET /api/v1/campaigns/:campaign/results',
      'operate',
      'Read what came of each row, page by page',
      'The rows hold the numbers of the list, so this takes the role operate and is written to the log.',
    ),
    downloadResults: download(
      'GET /api/v1/campaigns/:campaign/results.:format',
      'operate',
      'Download every row of the list with what came of it, as carillon results writes it',
      'The rows hold the numbers of the list, so this takes the role operate and is written to the log. In CSV the cells of the list ' +
        'are as they were read: ask with safe_cells if the file is opened in a spreadsheet.',
    ),
  }),
} as const;
