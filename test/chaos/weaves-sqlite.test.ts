import { isFull } from '../support/depth.ts';
import { testReportedWeaves, testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: isFull ? 8 : 13, seeds: isFull ? 10 : 5 });
testReportedWeaves('batch-calling', 'sqlite', 4);
testReportedWeaves('campaigns', 'sqlite', 4);
