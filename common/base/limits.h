/* One table of every limit on what a remote side or a user can make us hold. A limit that is hit gives an
 * ERR_LIMIT with the object, the limit's name and its value. */
#pragma once

#define ARENA_DEFAULT_LIMIT (256u << 20) /* bytes one reconcile or request may take */
#define LIMIT_OBJECT_BYTES                                                                                   \
        (3u << 20) /* one object as JSON: devcluster's cap, as etcd's usual request cap doubled */
#define LIMIT_REQUEST_BODY_BYTES (3u << 20) /* body of one API request */
#define LIMIT_RESPONSE_BYTES (64u << 20)    /* one non-streamed HTTP response */
#define LIMIT_WATCH_EVENT_BYTES (8u << 20)  /* one watch event line */
#define LIMIT_HEADER_BYTES (64u << 10)      /* all headers of one message */
#define LIMIT_HEADER_COUNT 128              /* headers of one message */
#define LIMIT_REPLY_HEAD_BYTES (8u << 10)   /* the head of an answer of the agents' own endpoints */
#define LIMIT_SERVER_CONNECTIONS 4096       /* open connections of one listener */
/* The agents' ports for probes and metrics, which anybody in the cluster's network may reach. */
#define LIMIT_PROBE_HEAD_BYTES (8u << 10)
#define LIMIT_PROBE_CONNECTIONS 64
#define LIMIT_PROBE_REQUEST_MS 10000          /* until a request is complete, until its answer is taken */
#define LIMIT_REVIEW_BYTES (7u << 20)         /* an AdmissionReview: an object before and after, and more */
#define LIMIT_WEBHOOK_CONNECTIONS 128         /* an API server needs a few */
#define LIMIT_SERVER_QUEUE_BYTES (128u << 20) /* bytes one connection has not sent yet */
#define LIMIT_WEBSOCKET_MESSAGE_BYTES (1u << 20) /* of a client to the agents' own server */
#define LIMIT_WEBSOCKET_QUEUE_BYTES (16u << 20)  /* messages one client has not taken yet */
#define LIMIT_WEBSOCKETS 64                      /* at once, of one listener */
#define LIMIT_STREAM_QUEUE_BYTES                                                                             \
        (16u << 20)          /* bytes a client stream holds for a slow reader before it is cut */
#define LIMIT_JSON_DEPTH 128 /* nesting of any document */
#define LIMIT_JSON_STRING (4u << 20)
#define LIMIT_YAML_BYTES (8u << 20)       /* one YAML stream */
#define LIMIT_YAML_ALIASES 64             /* expansions of anchors in one document */
#define LIMIT_STOWING_BYTES (2ull << 30)  /* room to stow one object, the largest that a response brings */
#define LIMIT_LIST_PAGE 500               /* items the informers ask for at a time; fewer if they are large */
#define LIMIT_LIST_PAGE_BYTES (16u << 20) /* one page of a list, unless it is of a single object */
#define LIMIT_WATCH_QUEUE_EVENTS 4096     /* events a slow watcher may be behind before it is cut */
#define LIMIT_WATCH_QUEUE_BYTES (16u << 20)
#define LIMIT_FIBERS 30000                   /* two mappings each; the kernel's default allows about 32,000 */
#define LIMIT_FIBER_IDLE_STACKS 160          /* pooled stacks kept when idle: as many as a burst uses */
#define LIMIT_FIBER_STACK_BYTES (256u << 10) /* virtual; only touched pages count */
#define LIMIT_LOG_LINE_BYTES (16u << 10)
#define LIMIT_KUBECONFIG_BYTES (1u << 20)
#define LIMIT_TOKEN_BYTES (64u << 10)
#define LIMIT_EXEC_CREDENTIAL_BYTES (1u << 20) /* what a credential program of a kubeconfig says */
/* What the hub takes over of a member's report about itself; the rest is left out, and that is told. */
#define LIMIT_MEMBER_AGENTS 8
#define LIMIT_MEMBER_CONDITIONS 32 /* of the report, of each agent, and of the MemberCluster in all */
#define LIMIT_MEMBER_PROPERTIES 1000
#define LIMIT_MEMBER_NAMESPACES 5000
#define LIMIT_PRICES 20000            /* of a member's table of prices */
#define LIMIT_OWN_PROPERTIES 100      /* out of a member's ConfigMap */
#define LIMIT_PROPERTY_NAME_BYTES 253 /* this and the next as ClusterProfiles allow */
#define LIMIT_PROPERTY_VALUE_BYTES 1024
/* Texts of members about failed, drifted and differing resources, and these as JSON: of one resource, in the
 * status of one binding, in that of one placement. The rest is left out, and that is told. */
#define LIMIT_STATUS_TEXT_BYTES 2048
#define LIMIT_STATUS_ENTRY_BYTES (8u << 10)
#define LIMIT_BINDING_ENTRIES_BYTES (128u << 10)
#define LIMIT_PLACEMENT_ENTRIES_BYTES (512u << 10)
/* What all overrides of one manifest may do to it together. One override has at most 400 operations (20 rules
 * of 20), and one resource at most two overrides if admission sees to it. */
#define LIMIT_OVERRIDE_OPERATIONS 2000
#define LIMIT_OVERRIDE_BYTES                                                                                 \
        (3u << 20) /* their paths and values, variables replaced; as LIMIT_OBJECT_BYTES */
#define LIMIT_OBJECT_SET_BYTES (64u << 20)        /* all manifests of a ClusterObjectSet, unpacked */
#define LIMIT_OBJECT_SET_VALUES 1000000           /* in them: one of three bytes takes hundreds */
#define LIMIT_ADMISSION_MESSAGE_BYTES (32u << 10) /* why a webhook refuses an object */
#define LIMIT_POLICY_CONFIG_BYTES (1u << 20)
#define LIMIT_CERT_BYTES (1u << 20)
/* What a ResourceSetInputProvider takes from its source, and what of it its status holds. */
#define LIMIT_INPUT_PAGES 1000
#define LIMIT_INPUT_BODY_BYTES (10u << 20)     /* one answer */
#define LIMIT_INPUT_TOTAL_BYTES (100u << 20)   /* all answers of one run */
#define LIMIT_INPUT_SERVICE_BYTES 921600       /* the answer of an external service */
#define LIMIT_EXPORTED_INPUTS_BYTES (1u << 20) /* API servers keep objects of one and a half times that */
/* One rendering of a template (common/template), and the template itself. */
#define LIMIT_TEMPLATE_BYTES (3u << 20)        /* its text; as LIMIT_OBJECT_BYTES */
#define LIMIT_TEMPLATE_NESTING 100             /* of parentheses, ifs, ranges and definitions in its text */
#define LIMIT_TEMPLATE_OUTPUT_BYTES (8u << 20) /* what a rendering writes */
#define LIMIT_TEMPLATE_STEPS 1000000 /* nodes that a rendering visits; long values count as several */
#define LIMIT_TEMPLATE_DEPTH 100     /* templates that invoke templates */
#define LIMIT_TEMPLATE_CALLS 250     /* levels of all kinds together: a fiber's stack is small */
#define LIMIT_TEMPLATE_ITEMS 100000  /* of a list that until, seq or repeat make */
#define LIMIT_TEMPLATE_MEMORY_BYTES (64u << 20) /* values of one rendering */
/* One ResourceSet. */
#define LIMIT_RESOURCE_SET_PERMUTATIONS 10000
#define LIMIT_RESOURCE_SET_OBJECTS 10000      /* their inventory has to fit into one object */
#define LIMIT_RESOURCE_SET_BYTES (128u << 20) /* all rendered texts */
