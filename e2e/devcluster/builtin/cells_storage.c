/* How kubectl shows configuration, volumes and what belongs to them. */
#include "e2e/devcluster/builtin/cells_internal.h"

static void print_data_count(struct cell *c)
{
        buf_printf(c->out, "%zu",
                   json_object_size(doc_get_object(c->doc, "data")) +
                           json_object_size(doc_get_object(c->doc, "binaryData")));
}

/* "pods: 1/5, " of the quota's parts that are, or are not, limits. */
static void print_quota(struct cell *c, bool limits)
{
        const char *name, *before = "";
        json_t *hard;

        json_object_foreach(doc_get_object(c->doc, "status.hard"), name, hard) {
                const char *path[] = { "status", "used", name };
                const char *used = json_string_value(doc_get_keys(c->doc, path, 3));

                if (text_starts_with(name, "limits") != limits)
                        continue;
                buf_printf(c->out, "%s%s: %s/%s", before, name, used ? used : "0",
                           json_string_value(hard) ? json_string_value(hard) : "");
                before = ", ";
        }
}

static void print_quota_requests(struct cell *c)
{
        print_quota(c, false);
}

static void print_quota_limits(struct cell *c)
{
        print_quota(c, true);
}

static void print_drivers(struct cell *c)
{
        buf_printf(c->out, "%zu", json_array_size(doc_get_array(c->doc, "spec.drivers")));
}

static void print_token_requests(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.tokenRequests"), ",", "audience");
}

static void print_modes(struct cell *c)
{
        cell_print_joined(c->out, doc_get_array(c->doc, "spec.volumeLifecycleModes"), ",", NULL);
}

static void print_access_modes(struct cell *c)
{
        static const struct {
                const char *name, *brief;
        } modes[] = { { "ReadWriteOnce", "RWO" },
                      { "ReadOnlyMany", "ROX" },
                      { "ReadWriteMany", "RWX" },
                      { "ReadWriteOncePod", "RWOP" } };
        const char *before = "";

        for (size_t k = 0; k < ARRAY_LEN(modes); k++) {
                json_t *mode;
                size_t i;

                json_array_foreach(doc_get_array(c->doc, "spec.accessModes"), i, mode) {
                        if (!text_equal(json_string_value(mode), modes[k].name))
                                continue;
                        buf_printf(c->out, "%s%s", before, modes[k].brief);
                        before = ",";
                        break;
                }
        }
}

static void print_claim(struct cell *c)
{
        if (!doc_get(c->doc, "spec.claimRef"))
                return;
        cell_print_path(c, "spec.claimRef.namespace");
        buf_append_char(c->out, '/');
        cell_print_path(c, "spec.claimRef.name");
}

static void print_default_class_name(struct cell *c)
{
        static const char *const keys[] = { "metadata", "annotations",
                                            "storageclass.kubernetes.io/is-default-class" };

        cell_print_path(c, "metadata.name");
        if (text_equal(json_string_value(doc_get_keys(c->doc, keys, 3)), "true"))
                buf_append_str(c->out, " (default)");
}

static const struct column config_map_columns[] = {
        NAME_COLUMN, { .name = "Data", .print = print_data_count, .as_integer = true }, AGE_COLUMN
};
static const struct column secret_columns[] = {
        NAME_COLUMN,
        { .name = "Type", .path = "type" },
        { .name = "Data", .print = print_data_count, .as_integer = true },
        AGE_COLUMN
};
static const struct column quota_columns[] = {
        NAME_COLUMN,
        { .name = "Request", .print = print_quota_requests },
        { .name = "Limit", .print = print_quota_limits },
        AGE_COLUMN,
};
static const struct column csi_node_columns[] = {
        NAME_COLUMN, { .name = "Drivers", .print = print_drivers, .type = "integer" }, AGE_COLUMN
};
static const struct column csi_driver_columns[] = {
        NAME_COLUMN,
        { .name = "AttachRequired", .path = "spec.attachRequired", .fallback = "true", .type = "boolean" },
        { .name = "PodInfoOnMount", .path = "spec.podInfoOnMount", .fallback = "false", .type = "boolean" },
        { .name = "StorageCapacity", .path = "spec.storageCapacity", .fallback = "false", .type = "boolean" },
        { .name = "TokenRequests", .print = print_token_requests, .fallback = "<unset>" },
        { .name = "RequiresRepublish",
          .path = "spec.requiresRepublish",
          .fallback = "false",
          .type = "boolean" },
        { .name = "Modes", .print = print_modes },
        AGE_COLUMN,
};
static const struct column attachment_columns[] = {
        NAME_COLUMN,
        { .name = "Attacher", .path = "spec.attacher", .format = "name" },
        { .name = "PV", .path = "spec.source.persistentVolumeName" },
        { .name = "Node", .path = "spec.nodeName" },
        { .name = "Attached", .path = "status.attached", .fallback = "false", .type = "boolean" },
        AGE_COLUMN,
};
static const struct column volume_columns[] = {
        NAME_COLUMN,
        { .name = "Capacity", .path = "spec.capacity.storage" },
        { .name = "Access Modes", .print = print_access_modes },
        { .name = "Reclaim Policy", .path = "spec.persistentVolumeReclaimPolicy" },
        { .name = "Status", .path = "status.phase" },
        { .name = "Claim", .print = print_claim },
        { .name = "StorageClass", .path = "spec.storageClassName" },
        { .name = "VolumeAttributesClass", .path = "spec.volumeAttributesClassName", .fallback = "<unset>" },
        { .name = "Reason", .path = "status.reason" },
        AGE_COLUMN,
        { .name = "VolumeMode", .path = "spec.volumeMode", WIDE },
};
static const struct column claim_columns[] = {
        NAME_COLUMN,
        { .name = "Status", .path = "status.phase" },
        { .name = "Volume", .path = "spec.volumeName" },
        { .name = "Capacity", .path = "status.capacity.storage" },
        { .name = "Access Modes", .print = print_access_modes },
        { .name = "StorageClass", .path = "spec.storageClassName" },
        { .name = "VolumeAttributesClass", .path = "spec.volumeAttributesClassName", .fallback = "<unset>" },
        AGE_COLUMN,
        { .name = "VolumeMode", .path = "spec.volumeMode", WIDE },
};
static const struct column class_columns[] = {
        { .name = "Name", .print = print_default_class_name },
        { .name = "Provisioner", .path = "provisioner" },
        { .name = "ReclaimPolicy", .path = "reclaimPolicy" },
        { .name = "VolumeBindingMode", .path = "volumeBindingMode" },
        { .name = "AllowVolumeExpansion",
          .path = "allowVolumeExpansion",
          .fallback = "false",
          .type = "string",
          .as_boolean = true },
        AGE_COLUMN,
};

const struct cell_table cells_storage[] = {
        CELL_TABLE("", "ConfigMap", config_map_columns),
        CELL_TABLE("", "Secret", secret_columns),
        CELL_TABLE("", "ResourceQuota", quota_columns),
        CELL_TABLE("storage.k8s.io", "CSINode", csi_node_columns),
        CELL_TABLE("storage.k8s.io", "CSIDriver", csi_driver_columns),
        CELL_TABLE("storage.k8s.io", "VolumeAttachment", attachment_columns),
        CELL_TABLE("", "PersistentVolume", volume_columns),
        CELL_TABLE("", "PersistentVolumeClaim", claim_columns),
        CELL_TABLE("storage.k8s.io", "StorageClass", class_columns),
};
const size_t n_cells_storage = ARRAY_LEN(cells_storage);
