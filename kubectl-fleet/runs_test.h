/* Statuses of runs that several tests look at; single quotes stand for double ones. */
#pragma once

#define AT(type, status, reason, message, time)                                                              \
        "{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message                 \
        "','lastTransitionTime':'" time "','observedGeneration':1}"
#define NOW(type, status, reason, message) AT(type, status, reason, message, "2026-01-01T00:00:00Z")
#define INITIALIZED NOW("Initialized", "True", "UpdateRunInitializedSuccessfully", "fine")
#define DONE                                                                                                 \
        NOW("Progressing", "False", "StageUpdatingSucceeded", "")                                            \
        "," NOW("Succeeded", "True", "StageUpdatingSucceeded", "")
#define CLUSTER_DONE                                                                                         \
        NOW("Started", "True", "ClusterUpdatingStarted", "")                                                 \
        "," NOW("Succeeded", "True", "ClusterUpdatingSucceeded", "")
#define CLUSTER(name, conditions) "{'clusterName':'" name "','conditions':[" conditions "]}"

#define A_IS_DONE CLUSTER("a", CLUSTER_DONE)
#define B_IS_DONE CLUSTER("b", CLUSTER_DONE)
#define C_IS_DONE CLUSTER("c", CLUSTER_DONE)
#define REQUEST_MADE NOW("ApprovalRequestCreated", "True", "S", "")
#define REQUEST_APPROVED NOW("ApprovalRequestApproved", "True", "S", "")
#define WAIT_IS_OVER NOW("WaitTimeElapsed", "True", "A", "")
#define STAGE_WAITS                                                                                          \
        AT("Progressing", "False", "StageUpdatingWaiting", "All is updated", "2025-12-31T23:58:00Z")
#define NO_DELETION "'deletionStageStatus':{'stageName':'kubernetes-fleet.io/deleteStage','clusters':[]}"

#define STRATEGY                                                                                             \
        "'policySnapshotIndexUsed':'0','resourceSnapshotIndexUsed':'1','stagedUpdateStrategySnapshot':{"     \
        "'stages':[{'name':'staging','afterStageTasks':[{'type':'TimedWait','waitTime':'1m0s'}]},{'name':"   \
        "'canary','afterStageTasks':[{'type':'TimedWait','waitTime':'1h0m0s'},{'type':'Approval'}]},{"       \
        "'name':'production'}]}"
#define STAGING                                                                                              \
        "{'stageName':'staging','startTime':'2025-12-31T23:50:00Z','endTime':'2025-12-31T23:52:30Z',"        \
        "'conditions':[" DONE "],'clusters':[" A_IS_DONE "," B_IS_DONE "],'beforeStageTaskStatus':[{'type':" \
        "'Approval','approvalRequestName':'r-before-staging','conditions':[" REQUEST_MADE                    \
        "," REQUEST_APPROVED "]}],'afterStageTaskStatus':[{'type':'TimedWait','conditions':[" WAIT_IS_OVER   \
        "]}]}"
#define CANARY                                                                                               \
        "{'stageName':'canary','startTime':'2025-12-31T23:55:00Z','conditions':[" STAGE_WAITS                \
        "],'clusters':[" C_IS_DONE "],'afterStageTaskStatus':[{'type':'TimedWait'},{'type':'Approval',"      \
        "'approvalRequestName':'r-after-canary','conditions':[" REQUEST_MADE "]}]}"
#define PRODUCTION                                                                                           \
        "{'stageName':'production','clusters':[{'clusterName':'d'},{'clusterName':'e'}],"                    \
        "'beforeStageTaskStatus':[{'type':'Approval','approvalRequestName':'r-before-production'}]}"

/* Three stages: one done with its gates behind it, one that waits, one to come. */
#define STAGES STRATEGY ",'stagesStatus':[" STAGING "," CANARY "," PRODUCTION "]," NO_DELETION
#define WAITING                                                                                              \
        ",'status':{" STAGES ",'conditions':[" INITIALIZED                                                   \
        "," NOW("Progressing", "False", "UpdateRunWaiting",                                                  \
                "The updateRun is waiting for after-stage tasks in stage canary to complete") "]}"

#define ENDED(status, reason)                                                                                \
        "," NOW("Progressing", "False", reason, "over") "," NOW("Succeeded", status, reason, "over")

#define STAGE_RUNS NOW("Progressing", "True", "StageUpdatingStarted", "")
#define B_IS_UPDATING CLUSTER("b", AT("Started", "True", "S", "", "2025-12-31T23:59:00Z"))
#define C_STARTED NOW("Started", "True", "S", "")
#define C_FAILED NOW("Succeeded", "False", "ClusterUpdatingFailed", "the binding is not up-to-date")
#define D_LEFT CLUSTER("d", NOW("Skipped", "True", "ClusterLeft", "the cluster left"))
#define UPDATING(status)                                                                                     \
        ",'status':{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'all','startTime':"         \
        "'2025-12-31T23:58:00Z','conditions':[" STAGE_RUNS "],'clusters':[" A_IS_DONE "," B_IS_UPDATING ","  \
        "{'clusterName':'c','conditions':[" C_STARTED "," C_FAILED "]}," D_LEFT ",{'clusterName':'e'}]}],"   \
        "'leftOutClusters':[{'clusterName':'f','reason':'Joined'},{'clusterName':'g','reason':'InNoStage'}"  \
        "],'deletionStageStatus':{'stageName':'kubernetes-fleet.io/deleteStage','clusters':[{'clusterName':" \
        "'x'}]},'conditions':[" INITIALIZED status "]}"
