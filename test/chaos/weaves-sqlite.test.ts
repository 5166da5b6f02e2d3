import { testReportedWeaves, testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 8, seeds: 10 });
testReportedWeaves('batch-calling', 'sqlite', 4);
testReportedWeaves('campaigns', 'sqlite', 4);
